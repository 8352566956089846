import { formatCount } from '../../core/format.ts'
import { Card } from '../../parts/card.tsx'
import { LinePlot } from '../../parts/plot.tsx'
import { type ShownStatistics, sumByBucket, sumPoints } from './statistics.ts'

/** New users, sign-ins and failed sign-ins over the chosen time. */
export function Trends({ users, sign_ins, buckets }: ShownStatistics) {
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
