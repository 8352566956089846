import type { AdminUser } from '../../../schemas/admin-user.ts'
import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import type { TabProps } from './tab-props.ts'

export function EditUserDialog({ user, of, onClose }: TabProps & { onClose: () => void }) {
  const save = async (fields: FormFields) => {
    of.set(await changeByApi<AdminUser>('PUT', `/admin/users/${user.id}`, toChanges(user, fields)))
    showMessage('The account was changed')
    onClose()
  }
  return (
    <Dialog title="Edit account" onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <TextField name="email" type="email" label="Email" value={user.email} />
        <CheckField
          name="email_confirm"
          label="The email is confirmed"
          checked={user.email_confirmed_at !== undefined}
          disabled={user.email_confirmed_at !== undefined}
        />
        <TextField name="phone" type="tel" label="Phone" value={user.phone} />
        <CheckField
          name="phone_confirm"
          label="The phone number is confirmed"
          checked={user.phone_confirmed_at !== undefined}
          disabled={user.phone_confirmed_at !== undefined}
        />
        <TextField
          name="role"
          label="Role"
          value={user.role}
          hint="Role claim of the access tokens. Changing it revokes all sessions of the user."
        />
        <TextField
          name="password"
          type="password"
          label="New password"
          hint="Leave empty to keep it. A new one revokes all sessions of the user."
        />
      </Form>
    </Dialog>
  )
}

/** Only changed fields, so that the API sees no other change. */
function toChanges(user: AdminUser, fields: FormFields) {
  const { email = '', phone = '', role = '', password } = fields
  const isNewlyConfirmed = (name: 'email' | 'phone') =>
    fields[`${name}_confirm`] === 'on' && user[`${name}_confirmed_at`] === undefined
  return {
    ...(email !== user.email && { email }),
    ...(phone.replace(/\D/g, '') !== user.phone && { phone }),
    ...(role !== user.role && { role }),
    ...(password && { password }),
    ...(isNewlyConfirmed('email') && { email_confirm: true }),
    ...(isNewlyConfirmed('phone') && { phone_confirm: true }),
  }
}
