/** Metrics of queued jobs. */
import { findJobBacklog, type JobBacklog } from '../../../db/jobs/backlog.ts'
import type { Deps } from '../../define-plugin.ts'
import { shareReading } from '../../observability/telemetry/shared-reading.ts'

interface Queue {
  schema: string
  tasks: () => string[]
}

export function addJobBacklogGauges(
  { db, telemetry }: Deps<'db' | 'telemetry'>,
  { schema, tasks }: Queue,
): void {
  const { metrics } = telemetry
  const read = shareReading(() => findJobBacklog(db, schema))

  /** Includes every known task, so that an empty one is reported as 0. */
  async function backlog(): Promise<JobBacklog[]> {
    const found = new Map((await read()).map((one) => [one.task, one]))
    return tasks().map((task) => found.get(task) ?? { task, waiting: 0, failed: 0, overdue: 0 })
  }

  metrics.gauge('postern.jobs.queued', async () =>
    (await backlog()).map(({ task, waiting }) => ({ value: waiting, labels: { task } })),
  )
  metrics.gauge('postern.jobs.failed', async () =>
    (await backlog()).map(({ task, failed }) => ({ value: failed, labels: { task } })),
  )
  metrics.gauge('postern.jobs.oldest_due_age', async () => [
    { value: Math.max(0, ...(await backlog()).map(({ overdue }) => overdue)), labels: {} },
  ])
}
