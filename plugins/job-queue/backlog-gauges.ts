/** How much work waits, for whoever watches. */
import { findJobBacklog, type JobBacklog } from '../../db/job-backlog.ts'
import type { House } from '../define-plugin.ts'
import { shareReading } from '../telemetry/shared-reading.ts'

interface Queue {
  schema: string
  tasks: () => string[]
}

export function addBacklogGauges(
  { db, telemetry }: House<'db' | 'telemetry'>,
  { schema, tasks }: Queue,
): void {
  const { metrics } = telemetry
  const read = shareReading(() => findJobBacklog(db, schema))

  /** Of each task that is known here, so that one with nothing to do says 0. */
  async function backlog(): Promise<JobBacklog[]> {
    const found = new Map((await read()).map((one) => [one.task, one]))
    return tasks().map((task) => found.get(task) ?? { task, waiting: 0, failed: 0, overdue: 0 })
  }

  metrics.gauge('postern.jobs.waiting', async () =>
    (await backlog()).map(({ task, waiting }) => ({ value: waiting, labels: { task } })),
  )
  metrics.gauge('postern.jobs.failed', async () =>
    (await backlog()).map(({ task, failed }) => ({ value: failed, labels: { task } })),
  )
  metrics.gauge('postern.jobs.oldest_due', async () => [
    { value: Math.max(0, ...(await backlog()).map(({ overdue }) => overdue)), labels: {} },
  ])
}
