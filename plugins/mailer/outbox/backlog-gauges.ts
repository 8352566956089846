/** How much mail waits, for whoever watches: one statement for all gauges of one collection. */
import { countMailBacklog, type MailBacklog } from '../../../db/mail-backlog.ts'
import type { House } from '../../define-plugin.ts'

/** Collections are seconds apart, the gauges of one are not. */
const sharedMs = 1_000

export function addBacklogGauges({ db, telemetry }: House<'db' | 'telemetry'>): void {
  const { metrics } = telemetry
  let read: { at: number; backlog: Promise<MailBacklog> } | undefined

  function backlog(): Promise<MailBacklog> {
    const now = performance.now()
    if (!read || now - read.at > sharedMs) read = { at: now, backlog: countMailBacklog(db) }
    return read.backlog
  }

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
