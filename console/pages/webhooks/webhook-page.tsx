import { useState } from 'preact/hooks'

import type { Webhook } from '../../../schemas/webhook.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { type Resource, useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, SecretDialog } from '../../parts/dialog.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { FactList, Moment } from '../../parts/text.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookStateBadge } from './webhook-state.tsx'

export function WebhookPage({ id }: { id: string }) {
  const path = `/admin/webhooks/${id}` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const [open, setOpen] = useState<'edit' | 'secret' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const { data: webhook } = of
  const close = () => setOpen(undefined)
  const rotate = async () => {
    const made = await changeByApi('POST', `${path}/rotate_secret`, {})
    setSecret(made.secret)
  }
  const remove = async () => {
    await changeByApi('DELETE', path)
    showMessage('The webhook was removed')
    navigate('/webhooks')
  }
  return (
    <Page
      title={webhook?.description || webhook?.url || 'Webhook'}
      above={{ path: '/webhooks', title: 'Webhooks' }}
      about={webhook && <WebhookStateBadge of={webhook} />}
      actions={webhook && <WebhookActions webhook={webhook} of={of} onOpen={setOpen} />}
    >
      <Loaded of={of} lines={4}>
        {(loaded) => <Facts webhook={loaded} />}
      </Loaded>
      <Deliveries webhookId={id} mayReplay={may('POST /admin/webhooks/{webhook_id}/replay')} />
      {open === 'edit' && webhook && (
        <WebhookDialog webhook={webhook} onDone={of.set} onClose={close} />
      )}
      {open === 'secret' && (
        <Confirm
          title="Rotate the signing secret"
          submit="Rotate secret"
          onConfirm={rotate}
          onClose={close}
        >
          <p>
            Events are signed with both secrets for a day, so that you can update your endpoint.
          </p>
        </Confirm>
      )}
      {open === 'delete' && (
        <Confirm
          title="Remove the webhook"
          submit="Remove webhook"
          danger
          onConfirm={remove}
          onClose={close}
        >
          <p>Pending events are not sent. This cannot be undone.</p>
        </Confirm>
      )}
      {secret && (
        <SecretDialog title="Signing secret" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Page>
  )
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { url, events, reason, failures, retry_at } = webhook
  return (
    <Card title="Endpoint">
      <FactList
        facts={[
          ['Address', <code key="url">{url}</code>],
          ['Events', events.length === 0 ? 'All' : events.join(', ')],
          ['Paused because', reason],
          ['Failures in a row', failures],
          ['Next attempt', retry_at && <Moment key="retry" at={retry_at} />],
        ]}
      />
    </Card>
  )
}

interface WebhookActionsProps {
  webhook: Webhook
  of: Resource<Webhook>
  onOpen: (open: 'edit' | 'secret' | 'delete') => void
}

function WebhookActions({ webhook, of, onOpen }: WebhookActionsProps) {
  const path = `/admin/webhooks/${webhook.id}` as const
  const isFixed = webhook.source === 'environment'
  const mayChange = may('PUT /admin/webhooks/{webhook_id}') && !isFixed
  const setState = async (state: Webhook['state']) =>
    of.set(await changeByApi('PUT', path, { state }))
  const toggle = async () => {
    const { state } = webhook
    await setState(state === 'active' ? 'paused' : 'active')
    showMessage(state === 'active' ? 'The webhook is paused' : 'The webhook is active', () =>
      setState(state),
    )
  }
  const test = async () => {
    const { accepted, answer } = await changeByApi('POST', `${path}/test`)
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

async function replayDead(path: `/admin/webhooks/${string}`): Promise<void> {
  const { queued } = await changeByApi('POST', `${path}/replay`, { dead: true })
  showMessage(queued === 0 ? 'No abandoned events' : `${queued} events were queued again`)
}
