import { changeByApi, withQuery } from '../../core/api.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'

export function CreateUserDialog({ onClose }: { onClose: () => void }) {
  const create = async (fields: FormFields) => {
    const user = await changeByApi('POST', '/admin/users', newUser(fields))
    showMessage('The user was created')
    navigate(`/users/${user.id}`)
  }
  return (
    <Dialog title="Create a user" onClose={onClose}>
      <Form submit="Create user" onSubmit={create} onCancel={onClose}>
        <p class="quiet">No message is sent. To let users set up their account, invite them.</p>
        <TextField name="email" type="email" label="Email" autoFocus />
        <TextField name="phone" type="tel" label="Phone" hint="With the country code" />
        <TextField name="password" type="password" label="Password" hint="Empty for none" />
        <CheckField name="confirmed" label="Mark as confirmed" checked />
      </Form>
    </Dialog>
  )
}

function newUser({ email, phone, password, confirmed }: FormFields) {
  return {
    ...(email && { email, email_confirm: confirmed === 'on' }),
    ...(phone && { phone, phone_confirm: confirmed === 'on' }),
    ...(password && { password }),
  }
}

export function InviteUserDialog({ onClose }: { onClose: () => void }) {
  const invite = async ({ email, redirect_to }: FormFields) => {
    const user = await changeByApi('POST', withQuery('/invite', { redirect_to }), { email })
    showMessage(`The invitation to ${user.email} was sent`)
    navigate(`/users/${user.id}`)
  }
  return (
    <Dialog title="Invite a user" onClose={onClose}>
      <Form submit="Send invitation" onSubmit={invite} onCancel={onClose}>
        <TextField name="email" type="email" label="Email" required autoFocus />
        <TextField
          name="redirect_to"
          type="url"
          label="Redirect target"
          hint="A URL allowed by AUTH_SITE_URL or AUTH_URI_ALLOW_LIST; empty for the site"
        />
      </Form>
    </Dialog>
  )
}
