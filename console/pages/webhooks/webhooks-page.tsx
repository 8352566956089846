import { useState } from 'preact/hooks'

import type { Webhook } from '../../../schemas/webhook.ts'
import { getBody } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { SecretDialog } from '../../parts/dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookStateBadge } from './webhook-state.tsx'

const columns: Column<Webhook>[] = [
  {
    title: 'Endpoint',
    kind: 'wrap',
    cell: ({ id, url, description }) => (
      <a href={pageUrl(`/webhooks/${id}`)}>{description || url}</a>
    ),
  },
  { title: 'State', cell: (webhook) => <WebhookStateBadge of={webhook} /> },
  {
    title: 'Events',
    kind: 'wrap',
    cell: ({ events }) => (events.length === 0 ? 'All' : events.join(', ')),
  },
  { title: 'Set in', cell: ({ source }) => (source === 'api' ? 'Console' : 'Environment') },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

export function WebhooksPage() {
  const of = useResource((signal) => getBody('/admin/webhooks', signal), 'all')
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string>()
  const created = (made: { secret?: string }) => {
    setSecret(made.secret)
    of.reload()
  }
  return (
    <Page
      title="Webhooks"
      about="Endpoints that receive signed events about users, in order."
      actions={
        <Button
          kind="primary"
          disabled={!may('POST /admin/webhooks')}
          onClick={() => setCreating(true)}
        >
          Add webhook
        </Button>
      }
    >
      <Card title="Webhooks" flush>
        <Loaded of={of}>{({ webhooks }) => <Webhooks webhooks={webhooks} />}</Loaded>
      </Card>
      {isCreating && <WebhookDialog onDone={created} onClose={() => setCreating(false)} />}
      {secret && (
        <SecretDialog title="Signing secret" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Page>
  )
}

function Webhooks({ webhooks }: { webhooks: Webhook[] }) {
  if (webhooks.length === 0) {
    return (
      <Empty title="No webhooks">
        Add one to be notified when users sign up, change or are deleted.
      </Empty>
    )
  }
  return <Table label="Webhooks" columns={columns} rows={webhooks} getKey={({ id }) => id} />
}
