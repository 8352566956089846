import type { Delivery } from '../../../schemas/webhook.ts'
import { changeByApi, requestApi, withQuery } from '../../core/api.ts'
import { usePages } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Lines, Time, type Tone } from '../../parts/text.tsx'

const tones: Record<Delivery['state'], Tone> = { waiting: 'link', delivered: 'good', dead: 'bad' }

const names: Record<Delivery['state'], string> = {
  waiting: 'Waiting',
  delivered: 'Delivered',
  dead: 'Abandoned',
}
const states = [['', 'All'], ...Object.entries(names)] as const

export function Deliveries({ webhookId, mayReplay }: { webhookId: string; mayReplay: boolean }) {
  const state = query.value.get('state') ?? ''
  const path = `/admin/webhooks/${webhookId}` as const
  const pages = usePages(async (before, signal) => {
    const url = withQuery(`${path}/deliveries`, { state, before, limit: 50 })
    const { deliveries, next } = (await requestApi(url, { signal })).body
    return { items: deliveries, next: next === null ? undefined : String(next) }
  }, path + state)
  const replay = async ({ event_id }: Delivery) => {
    await changeByApi('POST', `${path}/replay`, { events: [event_id] })
    showMessage('The event was queued again')
    pages.reload()
  }
  return (
    <Card title="Deliveries" flush actions={<StateChoice current={state} />}>
      <PagedRows
        pages={pages}
        empty={{
          title: 'No deliveries',
          text: 'Events appear here when something happens to a user.',
        }}
      >
        {(rows) => (
          <Table
            label="Deliveries"
            columns={columnsFor(replay, mayReplay)}
            rows={rows}
            getKey={({ event_id }) => event_id}
          />
        )}
      </PagedRows>
    </Card>
  )
}

function StateChoice({ current }: { current: string }) {
  return (
    <select
      aria-label="State"
      value={current}
      onChange={(event) => setQuery({ state: event.currentTarget.value })}
    >
      {states.map(([value, text]) => (
        <option key={value} value={value} selected={value === current}>
          {text}
        </option>
      ))}
    </select>
  )
}

function columnsFor(
  replay: (delivery: Delivery) => Promise<void>,
  mayReplay: boolean,
): Column<Delivery>[] {
  return [
    { title: 'Event', cell: ({ type }) => <code>{type}</code> },
    { title: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{names[state]}</Badge> },
    { title: 'Attempts', kind: 'end', cell: ({ attempts }) => attempts },
    { title: 'Last attempt', cell: ({ last_attempt_at }) => <Time at={last_attempt_at} /> },
    { title: 'Next', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
    { title: 'Response', kind: 'wrap', cell: (delivery) => <Response of={delivery} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (delivery) =>
        delivery.state !== 'waiting' && (
          <Button
            compact
            label={`Replay ${delivery.type}`}
            disabled={!mayReplay}
            onClick={() => replay(delivery)}
          >
            Replay
          </Button>
        ),
    },
  ]
}

function Response({ of: { request, answer } }: { of: Delivery }) {
  const outcome = answer ? (answer.error ?? `Status ${answer.status}`) : 'None yet'
  return (
    <details>
      <summary>{outcome}</summary>
      {answer?.body && <Lines label="Response">{answer.body}</Lines>}
      <Lines label="Request">{JSON.stringify(request.body, null, 2)}</Lines>
    </details>
  )
}
