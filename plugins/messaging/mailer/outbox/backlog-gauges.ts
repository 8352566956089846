/** Metrics of queued email. */
import { countMailBacklog } from '../../../../db/emails/backlog.ts'
import type { Deps } from '../../../define-plugin.ts'
import { shareReading } from '../../../observability/telemetry/shared-reading.ts'

export function addEmailBacklogGauges({ db, telemetry }: Deps<'db' | 'telemetry'>): void {
  const { metrics } = telemetry
  const backlog = shareReading(() => countMailBacklog(db))

  metrics.gauge('postern.emails.queued', async () => [
    { value: (await backlog()).waiting, labels: {} },
  ])
  metrics.gauge('postern.emails.dead_lettered', async () => [
    { value: (await backlog()).dead, labels: {} },
  ])
  metrics.gauge('postern.emails.oldest_queued_age', async () => {
    const { oldest_waiting } = await backlog()
    const seconds = oldest_waiting ? (Date.now() - oldest_waiting.getTime()) / 1000 : 0
    return [{ value: Math.max(0, seconds), labels: {} }]
  })
}
