/** How much mail waits, for whoever watches. */
import { countMailBacklog } from '../../../db/mail-backlog.ts'
import type { House } from '../../define-plugin.ts'
import { shareReading } from '../../telemetry/shared-reading.ts'

export function addBacklogGauges({ db, telemetry }: House<'db' | 'telemetry'>): void {
  const { metrics } = telemetry
  const backlog = shareReading(() => countMailBacklog(db))

  metrics.gauge('postern.mails.waiting', async () => [
    { value: (await backlog()).waiting, labels: {} },
  ])
  metrics.gauge('postern.mails.dead', async () => [{ value: (await backlog()).dead, labels: {} }])
  metrics.gauge('postern.mails.oldest_waiting', async () => {
    const { oldest_waiting } = await backlog()
    const seconds = oldest_waiting ? (Date.now() - oldest_waiting.getTime()) / 1000 : 0
    return [{ value: Math.max(0, seconds), labels: {} }]
  })
}
