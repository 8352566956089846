import { useState } from 'preact/hooks'

import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { getOrganizationPath, roleOptions, type ShownConnection, useRoles } from './organization.ts'
import { type RoleMappingRule, RoleRules } from './role-rules.tsx'

interface ConnectionDialogProps {
  id: string
  /** The connection to change; absent for a new one. */
  connection?: ShownConnection
  onDone: () => void
  onClose: () => void
}

export function ConnectionDialog({ id, connection, onDone, onClose }: ConnectionDialogProps) {
  const roles = useRoles(id)
  const [rules, setRules] = useState<RoleMappingRule[]>(connection?.role_mapping ?? [])
  const path = `${getOrganizationPath(id)}/connections`
  const save = async ({ name, provider, default_role }: FormFields) => {
    const fields = { name, default_role, role_mapping: rules }
    if (connection) await changeByApi('PUT', `${path}/${connection.id}`, fields)
    else await changeByApi('POST', path, { ...fields, ...toProviderField(provider) })
    showMessage(connection ? `${name} was changed` : `${name} was added`)
    onDone()
    onClose()
  }
  const role = connection?.default_role ?? 'member'
  return (
    <Dialog title={connection ? `Edit ${connection.name}` : 'Bind a provider'} onClose={onClose}>
      <Form submit={connection ? 'Save' : 'Bind provider'} onSubmit={save} onCancel={onClose}>
        <TextField name="name" label="Name" value={connection?.name ?? ''} required autoFocus />
        {!connection && (
          <TextField
            name="provider"
            label="Provider"
            hint="The id of a SAML provider, or custom: and the name of a custom one"
            required
          />
        )}
        <SelectField
          name="default_role"
          label="Default role"
          value={role}
          options={roleOptions(roles, role)}
        />
        <RoleRules rules={rules} roles={roleOptions(roles, role)} onChange={setRules} />
      </Form>
    </Dialog>
  )
}

function toProviderField(provider = '') {
  return provider.startsWith('custom:')
    ? { custom_provider: provider }
    : { sso_provider_id: provider }
}
