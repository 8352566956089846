import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import {
  getOrganizationPath,
  roleOptions,
  type ShownOrganization,
  useRoles,
} from './organization.ts'

interface EditDialogProps {
  organization: ShownOrganization
  onDone: (organization: ShownOrganization) => void
  onClose: () => void
}

const domainChoices = [
  ['off', 'Off'],
  ['suggested', 'Suggested'],
  ['automatic', 'Automatic'],
] as const

const switches = [
  ['invitation', 'By invitation'],
  ['sso', 'By single sign-on'],
  ['scim', 'By SCIM'],
] as const

export function EditOrganizationDialog({ organization, onDone, onClose }: EditDialogProps) {
  const { id, name, slug, joining, default_role } = organization
  const roles = useRoles(id)
  const save = async (fields: FormFields) => {
    onDone(await changeByApi<ShownOrganization>('PUT', getOrganizationPath(id), changesIn(fields)))
    showMessage('The organization was changed')
    onClose()
  }
  return (
    <Dialog title="Edit organization" onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <TextField name="name" label="Name" value={name} required autoFocus />
        <TextField name="slug" label="Slug" value={slug} required />
        <fieldset>
          <legend>Users join</legend>
          {switches.map(([way, label]) => (
            <CheckField key={way} name={way} label={label} checked={joining[way]} />
          ))}
        </fieldset>
        <SelectField
          name="domain"
          label="By verified domain"
          value={joining.domain}
          options={domainChoices}
        />
        <SelectField
          name="default_role"
          label="Default role"
          hint="Of users who join by domain"
          value={default_role}
          options={roleOptions(roles, default_role)}
        />
      </Form>
    </Dialog>
  )
}

function changesIn({ name, slug, domain, default_role, ...checked }: FormFields) {
  const on = Object.fromEntries(switches.map(([way]) => [way, checked[way] === 'on']))
  return { name, slug, default_role, joining: { ...on, domain } }
}
