import { pageUrl } from '../../core/base.ts'
import { formatCount, formatName } from '../../core/format.ts'
import { Card } from '../../parts/card.tsx'
import { Empty } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import type { ShownStatistics } from './statistics.ts'

/** Limits, hooks and keys. */
export function SystemStatus(statistics: ShownStatistics) {
  return (
    <div class="three">
      <Limits {...statistics} />
      <Hooks {...statistics} />
      <Keys {...statistics} />
    </div>
  )
}

function Limits({ limits }: ShownStatistics) {
  return (
    <Card title="Requests rejected by limits" flush>
      {limits.length === 0 ? (
        <Empty title="None in this period" />
      ) : (
        <Table
          label="Requests rejected by limits"
          rows={limits}
          getKey={({ endpoint }) => endpoint}
          columns={[
            { title: 'Endpoint', kind: 'wrap', cell: ({ endpoint }) => <code>{endpoint}</code> },
            { title: 'Rejected', kind: 'end', cell: ({ total }) => formatCount(total) },
          ]}
        />
      )}
    </Card>
  )
}

function Hooks({ hooks }: ShownStatistics) {
  return (
    <Card title="Hooks" flush>
      {hooks.length === 0 ? (
        <Empty title="No hooks were called" />
      ) : (
        <Table
          label="Hooks"
          rows={hooks}
          getKey={({ name }) => name}
          columns={[
            { title: 'Hook', kind: 'wrap', cell: ({ name }) => formatName(name) },
            { title: 'Calls', kind: 'end', cell: ({ calls }) => formatCount(calls) },
            { title: 'Failures', kind: 'end', cell: ({ failures }) => formatCount(failures) },
          ]}
        />
      )}
    </Card>
  )
}

function Keys({ keys }: ShownStatistics) {
  return (
    <Card title="Signing keys" flush actions={<a href={pageUrl('/keys')}>Manage</a>}>
      <Table
        label="Signing keys"
        rows={keys}
        getKey={({ kid }) => kid}
        columns={[
          { title: 'Algorithm', cell: ({ alg }) => alg },
          { title: 'State', cell: ({ state }) => <Badge>{formatName(state)}</Badge> },
          { title: 'Created', kind: 'end', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </Card>
  )
}
