import type { Session } from '../../../schemas/session.ts'
import { changeByApi } from '../../core/api.ts'
import { currentImpersonation } from '../../core/impersonation.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { getUserName } from '../users/status.tsx'
import type { TabProps } from './tab-props.ts'

export function ImpersonateDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const start = async ({ reason }: FormFields) => {
    const path = `/admin/users/${user.id}/impersonate`
    const session = await changeByApi<Session>('POST', path, { reason })
    currentImpersonation.value = {
      name: getUserName(user),
      userId: user.id,
      accessToken: session.access_token,
      refreshToken: session.refresh_token,
      expiresAt: session.expires_at * 1000,
    }
    onClose()
  }
  return (
    <Dialog title={`Impersonate ${getUserName(user)}`} onClose={onClose}>
      <Form submit="Open a session" danger onSubmit={start} onCancel={onClose}>
        <p>
          This creates a short session of the user. It appears in the device list of the user, and
          the audit log records your name and the reason.
        </p>
        <TextField name="reason" label="Reason" required autoFocus />
      </Form>
    </Dialog>
  )
}
