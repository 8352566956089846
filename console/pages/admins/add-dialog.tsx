import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { roles } from './role-choice.tsx'

export function AddDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const add = async ({ email, role }: FormFields) => {
    await changeByApi('POST', '/admin/admins', { email, role })
    showMessage(`${email} is an admin now`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Add an admin" onClose={onClose}>
      <Form submit="Add admin" onSubmit={add} onCancel={onClose}>
        <TextField
          name="email"
          type="email"
          label="Email"
          hint="The address of an existing user"
          required
          autoFocus
        />
        <SelectField name="role" label="Role" value="support" options={roles} />
      </Form>
    </Dialog>
  )
}
