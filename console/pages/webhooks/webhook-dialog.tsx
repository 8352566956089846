import type { Webhook } from '../../../schemas/webhook.ts'
import { changeByApi } from '../../core/api.ts'
import { fromLines, toLines } from '../../core/format.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { AreaField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'

interface WebhookDialogProps {
  /** The webhook to change; absent for a new one. */
  webhook?: Webhook
  onDone: (saved: Webhook & { secret?: string }) => void
  onClose: () => void
}

export function WebhookDialog({ webhook, onDone, onClose }: WebhookDialogProps) {
  const save = async ({ url, description, events }: FormFields) => {
    const body = { url, description, events: fromLines(events) }
    const saved = webhook
      ? await changeByApi('PUT', `/admin/webhooks/${webhook.id}`, body)
      : await changeByApi('POST', '/admin/webhooks', body)
    showMessage(webhook ? 'The webhook was changed' : 'The webhook was added')
    onDone(saved)
    onClose()
  }
  return (
    <Dialog title={webhook ? 'Edit webhook' : 'Add a webhook'} onClose={onClose}>
      <Form submit={webhook ? 'Save' : 'Add webhook'} onSubmit={save} onCancel={onClose}>
        <TextField
          name="url"
          type="url"
          label="Address"
          value={webhook?.url ?? ''}
          placeholder="https://api.example.com/hooks/auth"
          required
          autoFocus
        />
        <TextField name="description" label="Description" value={webhook?.description ?? ''} />
        <AreaField
          name="events"
          label="Events"
          code
          rows={4}
          hint="One per line, such as user.created; empty for all"
          value={toLines(webhook?.events)}
        />
      </Form>
    </Dialog>
  )
}
