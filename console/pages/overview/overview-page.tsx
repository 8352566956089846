import { getBody } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatCount, formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { Bars, LinePlot } from '../../parts/plot.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, type Tone } from '../../parts/text.tsx'
import { Attention } from './attention.tsx'
import {
  rangeChoices,
  type ShownStatistics,
  type SignIns,
  sumByBucket,
  sumPoints,
} from './statistics.ts'
import { SystemStatus } from './system-status.tsx'

export function OverviewPage() {
  const range = rangeChoices.find(([name]) => name === query.value.get('range'))?.[0] ?? '24h'
  const of = useResource((signal) => getBody(`/admin/statistics?range=${range}`, signal), range)
  return (
    <Page
      title="Overview"
      about={of.data && `Postern ${of.data.version}`}
      actions={<RangeChoice current={range} />}
    >
      <Loaded of={of} lines={12}>
        {(statistics) => (
          <>
            <Attention {...statistics} />
            <Figures {...statistics} />
            <Trends {...statistics} />
            <SignInTable {...statistics} />
            <SystemStatus {...statistics} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function RangeChoice({ current }: { current: string }) {
  return (
    <fieldset class="segments" aria-label="Time range">
      {rangeChoices.map(([name, text]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === current}
          onClick={() => setQuery({ range: name === '24h' ? '' : name }, { replace: false })}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}

/** New users, sign-ins and failed sign-ins over the chosen time. */
function Trends({ users, sign_ins, buckets }: ShownStatistics) {
  const succeeded = sumByBucket(
    sign_ins.filter(({ outcome }) => outcome === 'success'),
    buckets,
  )
  const rejected = sumByBucket(
    sign_ins.filter(({ outcome }) => outcome !== 'success'),
    buckets,
  )
  const plots = [
    ['New users', users.new],
    ['Sign-ins', succeeded],
    ['Rejected sign-ins', rejected],
  ] as const
  return (
    <div class="three">
      {plots.map(([title, points]) => (
        <Card key={title} title={title} actions={<strong>{formatCount(sumPoints(points))}</strong>}>
          <LinePlot label={title} points={points} />
        </Card>
      ))}
    </div>
  )
}

const tones: Record<SignIns['outcome'], Tone> = {
  success: 'good',
  failed: 'warn',
  limited: 'warn',
  error: 'bad',
}

/** Sign-ins by method and outcome. */
function SignInTable({ sign_ins, buckets }: ShownStatistics) {
  const rows = sign_ins.toSorted((one, other) => other.total - one.total)
  const columns: Column<SignIns>[] = [
    { title: 'Method', cell: ({ method }) => formatName(method) },
    {
      title: 'Outcome',
      cell: ({ outcome }) => <Badge tone={tones[outcome]}>{formatName(outcome)}</Badge>,
    },
    { title: 'Sign-ins', kind: 'end', cell: ({ total }) => formatCount(total) },
    {
      title: 'Over time',
      cell: ({ method, outcome, counts }) => (
        <Bars
          label={`${method}, ${outcome}`}
          points={buckets.map((at, index) => ({ at, count: counts[index] ?? 0 }))}
        />
      ),
    },
  ]
  return (
    <Card title="Sign-ins by method" flush>
      {rows.length === 0 ? (
        <Empty title="No sign-ins in this period">
          Sign-ins are counted since the console was first enabled.
        </Empty>
      ) : (
        <Table
          label="Sign-ins by method"
          columns={columns}
          rows={rows}
          getKey={({ method, outcome }) => `${method} ${outcome}`}
        />
      )}
    </Card>
  )
}

interface Figure {
  name: string
  value: string
  note: string
  path: string
  isBad?: boolean
}

/** Key figures; each links to its page. */
function Figures(statistics: ShownStatistics) {
  return (
    <ul class="figures">
      {toFigures(statistics).map(({ name, value, note, path, isBad }) => (
        <li key={name}>
          <a href={pageUrl(path)}>
            <span class="quiet">{name}</span>
            <strong>{value}</strong>
            <span class={isBad ? 'small bad' : 'small quiet'}>{note}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function toFigures({ users, sessions, mail, webhooks }: ShownStatistics): Figure[] {
  const added = users.new.reduce((sum, { count }) => sum + count, 0)
  const about = (exact: boolean) => (exact ? '' : 'about ')
  return [
    {
      name: 'Users',
      value: about(users.exact) + formatCount(users.total),
      note: `${formatCount(added)} new in this period`,
      path: '/users',
    },
    {
      name: 'Active sessions',
      value: about(sessions.exact) + formatCount(sessions.active),
      note: 'Now',
      path: '/users',
    },
    {
      name: 'Emails waiting',
      value: formatCount(mail.waiting),
      note: mail.dead > 0 ? `${formatCount(mail.dead)} not delivered` : 'None undelivered',
      path: '/mail',
      isBad: mail.dead > 0,
    },
    {
      name: 'Webhooks',
      value: formatCount(webhooks.active),
      note: webhooks.failing.length > 0 ? `${webhooks.failing.length} failing` : 'None failing',
      path: '/webhooks',
      isBad: webhooks.failing.length > 0,
    },
  ]
}
