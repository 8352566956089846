import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { findUserId, getOrganizationPath } from './organization.ts'

interface MemberDialogProps {
  id: string
  roles: readonly (readonly [string, string])[]
  onDone: () => void
  onClose: () => void
}

export function MemberDialog({ id, roles, onDone, onClose }: MemberDialogProps) {
  const add = async ({ user = '', role }: FormFields) => {
    await changeByApi('POST', `${getOrganizationPath(id)}/members`, {
      user_id: await findUserId(user),
      role,
    })
    showMessage(`${user} is a member now`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Add a member" onClose={onClose}>
      <Form submit="Add member" onSubmit={add} onCancel={onClose}>
        <TextField
          name="user"
          label="User"
          hint="The email address or id of an existing user"
          required
          autoFocus
        />
        <SelectField name="role" label="Role" value="member" options={roles} />
      </Form>
    </Dialog>
  )
}

/** The address gets an email, whether it has an account or not. */
export function InviteMemberDialog({ id, roles, onDone, onClose }: MemberDialogProps) {
  const invite = async ({ email, role, redirect_to }: FormFields) => {
    const target = redirect_to ? { redirect_to } : {}
    await changeByApi('POST', `${getOrganizationPath(id)}/invitations`, { email, role, ...target })
    showMessage(`The invitation to ${email} was sent`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Invite an address" onClose={onClose}>
      <Form submit="Send invitation" onSubmit={invite} onCancel={onClose}>
        <TextField name="email" type="email" label="Email" required autoFocus />
        <SelectField name="role" label="Role" value="member" options={roles} />
        <TextField
          name="redirect_to"
          type="url"
          label="Page of your application"
          hint="A URL allowed by AUTH_SITE_URL or AUTH_URI_ALLOW_LIST; empty for the site"
        />
      </Form>
    </Dialog>
  )
}
