import { useState } from 'preact/hooks'

import type { Webhook } from '../../../schemas/webhook.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Page } from '../../parts/page.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { Loaded } from '../../parts/states.tsx'
import { FactList, Moment } from '../../parts/text.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookStateBadge } from './webhook-state.tsx'

export function WebhookPage({ id }: { id: string }) {
  const path = `/admin/webhooks/${id}`
  const of = useResource((signal) => getBody<Webhook>(path, signal), path)
  const [open, setOpen] = useState<'edit' | 'secret' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const { data: webhook } = of
  const close = () => setOpen(undefined)
  const rotate = async () => {
    const made = await changeByApi<{ secret: string }>('POST', `${path}/rotate_secret`, {})
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
