import { formatCount, formatName } from '../../core/format.ts'
import { Card } from '../../parts/card.tsx'
import { Bars } from '../../parts/plot.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, type Tone } from '../../parts/text.tsx'
import type { ShownStatistics, SignIns } from './statistics.ts'

const tones: Record<SignIns['outcome'], Tone> = {
  success: 'good',
  failed: 'warn',
  limited: 'warn',
  error: 'bad',
}

/** Sign-ins by method and outcome. */
export function SignInTable({ sign_ins, buckets }: ShownStatistics) {
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
