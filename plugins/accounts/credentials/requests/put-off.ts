import { SendQuotaExceeded } from '../../../../errors.ts'
import type { House } from '../../../define-plugin.ts'
import type { SealedRequest } from './sealed-request.ts'

interface Queued {
  task: string
  job: SealedRequest
  maxAttempts?: number
}

/**
 * What cannot be sent because everybody together has sent enough is tried again when there is more, until it is too old.
 * Throws every other error.
 */
export async function putOff(
  { db, jobQueue, log }: House<'db' | 'jobQueue' | 'log'>,
  error: unknown,
  { task, job, ...more }: Queued,
  now: Date,
): Promise<void> {
  if (!(error instanceof SendQuotaExceeded)) throw error
  const runAt = new Date(now.getTime() + (error.details.retryAfter ?? 1) * 1000)
  log.warn({ messageId: job.id, runAt }, 'a message waits: the hourly quota is used up')
  await jobQueue.enqueue(db, task, job, { ...more, runAt })
}
