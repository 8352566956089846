import { changeByApi } from '../../core/api.ts'
import { say } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { pathOf, roleOptions, useRoles } from './organization.ts'

interface ConnectionDialogProps {
  id: string
  onDone: () => void
  onClose: () => void
}

export function ConnectionDialog({ id, onDone, onClose }: ConnectionDialogProps) {
  const roles = useRoles(id)
  const bind = async ({ name, provider = '', default_role }: FormFields) => {
    const of = provider.startsWith('custom:')
      ? { custom_provider: provider }
      : { sso_provider_id: provider }
    await changeByApi('POST', `${pathOf(id)}/connections`, { name, default_role, ...of })
    say(`${name} was added`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Bind a provider" onClose={onClose}>
      <Form submit="Bind provider" onSubmit={bind} onCancel={onClose}>
        <TextField name="name" label="Name" required autoFocus />
        <TextField
          name="provider"
          label="Provider"
          hint="The id of a SAML provider, or custom: and the name of a custom one"
          required
        />
        <SelectField
          name="default_role"
          label="Default role"
          value="member"
          options={roleOptions(roles)}
        />
      </Form>
    </Dialog>
  )
}
