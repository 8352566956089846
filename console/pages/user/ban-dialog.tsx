import type { AdminUser } from '../../../schemas/admin-user.ts'
import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { banDurations } from '../users/ban-durations.ts'
import { getUserName } from '../users/status.tsx'
import type { TabProps } from './tab-props.ts'

export function BanDialog({ user, of, onClose }: TabProps & { onClose: () => void }) {
  const set = async (ban_duration: string) =>
    of.set(await changeByApi<AdminUser>('PUT', `/admin/users/${user.id}`, { ban_duration }))
  const ban = async ({ duration = '' }: FormFields) => {
    await set(duration)
    showMessage('The user is banned', () => set('none'))
    onClose()
  }
  return (
    <Dialog title={`Ban ${getUserName(user)}`} onClose={onClose}>
      <Form submit="Ban user" danger onSubmit={ban} onCancel={onClose}>
        <p>The user cannot sign in or use a session until the ban ends.</p>
        <SelectField name="duration" label="Duration" value="24h" options={banDurations} />
      </Form>
    </Dialog>
  )
}
