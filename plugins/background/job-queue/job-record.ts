/** The outcomes of one runner's jobs, kept for when the database cannot store them. */
import { EventEmitter } from 'node:events'

import type { WorkerEvents } from 'graphile-worker'
import { LRUCache } from 'lru-cache'

type JobState = 'run' | 'succeeded' | 'failed'

/** More than a runner fetches and completes while one completion is stored. */
const maxJobs = 1_000

export type JobRecord = ReturnType<typeof createJobRecord>

export function createJobRecord() {
  const states = new LRUCache<string, JobState>({ max: maxJobs })
  const events: WorkerEvents = new EventEmitter()
  let worker: string | undefined
  events.on('pool:create', ({ workerPool }) => {
    worker = workerPool.id
  })
  return {
    /** For the runner, which emits its worker id there. */
    events,
    /** The id in the runner's locks. */
    worker: () => worker,
    set(job: string, state: JobState): void {
      states.set(job, state)
    },
    jobsThat: (state: JobState): string[] =>
      [...states].flatMap(([job, one]) => (one === state ? [job] : [])),
  }
}
