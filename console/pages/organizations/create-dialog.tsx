import { changeByApi } from '../../core/api.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { findUserId } from './find-user.ts'
import { type ListedOrganization, root } from './organization.ts'

export function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const create = async ({ name = '', slug, owner }: FormFields) => {
    const created = await changeByApi<ListedOrganization>('POST', root, {
      name,
      ...(slug && { slug }),
      ...(owner && { owner_id: await findUserId(owner) }),
    })
    showMessage(`${created.name} was created`)
    navigate(`/organizations/${created.id}`)
  }
  return (
    <Dialog title="Create an organization" onClose={onClose}>
      <Form submit="Create organization" onSubmit={create} onCancel={onClose}>
        <TextField name="name" label="Name" required autoFocus />
        <TextField
          name="slug"
          label="Slug"
          hint="Unique, and part of access tokens. Leave empty to derive it from the name"
        />
        <TextField
          name="owner"
          label="Owner"
          hint="The email address or id of a user; empty for none"
        />
      </Form>
    </Dialog>
  )
}
