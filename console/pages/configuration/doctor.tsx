import { getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, type Tone } from '../../parts/text.tsx'

interface Finding {
  check: string
  level: 'pass' | 'warn' | 'fail'
  sentence: string
}

const levels: Record<Finding['level'], { tone: Tone; text: string }> = {
  pass: { tone: 'good', text: 'Passed' },
  warn: { tone: 'warn', text: 'Warning' },
  fail: { tone: 'bad', text: 'Failed' },
}
const order = ['fail', 'warn', 'pass']

const columns: Column<Finding>[] = [
  {
    title: 'Outcome',
    cell: ({ level }) => <Badge tone={levels[level].tone}>{levels[level].text}</Badge>,
  },
  { title: 'Check', cell: ({ check }) => check },
  { title: 'Finding', kind: 'wrap', cell: ({ sentence }) => sentence },
]

/** The checks of `npm run doctor` for the running server. */
export function Doctor() {
  const of = useResource((signal) => getBody('/admin/doctor', signal), 'all')
  const again = (
    <Button compact busy={of.isLoading} onClick={of.reload}>
      Run again
    </Button>
  )
  return (
    <Card title="Checks of this server" flush actions={again}>
      <Loaded of={of} lines={10}>
        {({ passed, warnings, failed, results }) => (
          <>
            <p class="summary" role="status">
              {passed} passed, {warnings} warnings, {failed} failed
            </p>
            <Table
              label="Checks"
              columns={columns}
              rows={results.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))}
              getKey={({ check, sentence }) => check + sentence}
              isStacked
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}
