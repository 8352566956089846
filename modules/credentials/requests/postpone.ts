import type { FastifyInstance } from 'fastify'

import { RepeatTooSoon, SendQuotaExceeded } from '../../../schemas/errors.ts'
import type { EncryptedRequest } from './encrypted-request.ts'

interface Queued {
  task: string
  job: EncryptedRequest
  maxAttempts?: number
}

/**
 * Postpones a job that exceeded the send quota or the minimum interval until it may be sent or has expired. Rethrows
 * every other error.
 */
export async function postpone(
  { db, jobQueue, log }: FastifyInstance,
  error: unknown,
  { task, job, ...more }: Queued,
  now: Date,
): Promise<void> {
  const isRepeat = error instanceof RepeatTooSoon
  if (!isRepeat && !(error instanceof SendQuotaExceeded)) throw error
  const delayMs = (error.details.retryAfter ?? 1) * 1000
  const waiting = { message_id: job.id, run_at: new Date(now.getTime() + delayMs) }
  if (isRepeat) log.debug(waiting, 'message postponed: minimum interval')
  else log.warn(waiting, 'message postponed: hourly send quota exceeded')
  await jobQueue.enqueue(db, task, job, { ...more, delayMs })
}
