import type { Webhook } from '../../../schemas/webhook.ts'
import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import type { Resource } from '../../core/resource.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'

interface TestResult {
  accepted: boolean
  answer: { status: number | null; error: string | null }
}

interface WebhookActionsProps {
  webhook: Webhook
  of: Resource<Webhook>
  onOpen: (open: 'edit' | 'secret' | 'delete') => void
}

export function WebhookActions({ webhook, of, onOpen }: WebhookActionsProps) {
  const path = `/admin/webhooks/${webhook.id}`
  const isFixed = webhook.source === 'environment'
  const mayChange = may('PUT /admin/webhooks/{webhook_id}') && !isFixed
  const setState = async (state: Webhook['state']) =>
    of.set(await changeByApi<Webhook>('PUT', path, { state }))
  const toggle = async () => {
    const { state } = webhook
    await setState(state === 'active' ? 'paused' : 'active')
    showMessage(state === 'active' ? 'The webhook is paused' : 'The webhook is active', () =>
      setState(state),
    )
  }
  const test = async () => {
    const { accepted, answer } = await changeByApi<TestResult>('POST', `${path}/test`)
    const outcome = answer.error ?? `status ${answer.status}`
    if (accepted) showMessage(`The endpoint accepted the test event: ${outcome}`)
    else showError(new Error(`The endpoint did not accept the test event: ${outcome}`))
  }
  return (
    <>
      <Button disabled={!may('POST /admin/webhooks/{webhook_id}/test')} onClick={test}>
        Send test event
      </Button>
      <Button disabled={!mayChange} onClick={toggle}>
        {webhook.state === 'active' ? 'Pause' : 'Resume'}
      </Button>
      <Menu label="More">
        <button type="button" disabled={!mayChange} onClick={() => onOpen('edit')}>
          Edit
        </button>
        <button
          type="button"
          disabled={!may('POST /admin/webhooks/{webhook_id}/rotate_secret') || isFixed}
          onClick={() => onOpen('secret')}
        >
          Rotate secret
        </button>
        <button
          type="button"
          disabled={!may('POST /admin/webhooks/{webhook_id}/replay')}
          onClick={() => replayDead(path).catch(showError)}
        >
          Replay all abandoned events
        </button>
        <button
          type="button"
          class="danger"
          disabled={!may('DELETE /admin/webhooks/{webhook_id}') || isFixed}
          onClick={() => onOpen('delete')}
        >
          Remove
        </button>
      </Menu>
    </>
  )
}

async function replayDead(path: string): Promise<void> {
  const { queued } = await changeByApi<{ queued: number }>('POST', `${path}/replay`, { dead: true })
  showMessage(queued === 0 ? 'No abandoned events' : `${queued} events were queued again`)
}
