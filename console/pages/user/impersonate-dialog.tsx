import type { Session } from '../../../schemas/session.ts'
import { change } from '../../core/api.ts'
import { impersonation } from '../../core/impersonation.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { type Fields, Form } from '../../parts/form.tsx'
import { nameOf } from '../users/status.tsx'
import type { TabProps } from './tab-props.ts'

export function ImpersonateDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const start = async ({ reason }: Fields) => {
    const path = `/admin/users/${user.id}/impersonate`
    const session = await change<Session>('POST', path, { reason })
    impersonation.value = {
      name: nameOf(user),
      userId: user.id,
      accessToken: session.access_token,
      refreshToken: session.refresh_token,
      expiresAt: session.expires_at * 1000,
    }
    onClose()
  }
  return (
    <Dialog title={`Impersonate ${nameOf(user)}`} onClose={onClose}>
      <Form submit="Open a session" danger onSubmit={start} onCancel={onClose}>
        <p>
          You get a short session of this user. The user sees it in their device list, and the audit
          log records your name and the reason.
        </p>
        <TextField name="reason" label="Reason" required autoFocus />
      </Form>
    </Dialog>
  )
}
