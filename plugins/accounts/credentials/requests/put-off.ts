import { RepeatTooSoon, SendQuotaExceeded } from '../../../../errors.ts'
import type { House } from '../../../define-plugin.ts'
import type { SealedRequest } from './sealed-request.ts'

interface Queued {
  task: string
  job: SealedRequest
  maxAttempts?: number
}

/**
 * What cannot be sent because everybody together has sent enough, or comes too soon, is tried again when it may be sent,
 * until it is too old. Throws every other error.
 */
export async function putOff(
  { db, jobQueue, log }: House<'db' | 'jobQueue' | 'log'>,
  error: unknown,
  { task, job, ...more }: Queued,
  now: Date,
): Promise<void> {
  const isRepeat = error instanceof RepeatTooSoon
  if (!isRepeat && !(error instanceof SendQuotaExceeded)) throw error
  const delayMs = (error.details.retryAfter ?? 1) * 1000
  const waiting = { messageId: job.id, runAt: new Date(now.getTime() + delayMs) }
  if (isRepeat) log.debug(waiting, 'a message waits: what it repeats was sent a moment ago')
  else log.warn(waiting, 'a message waits: the hourly quota is used up')
  await jobQueue.enqueue(db, task, job, { ...more, delayMs })
}
