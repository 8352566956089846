/**
 * Makes the first attempt at an email in the process that queued it, immediately after the response. The job queue
 * would need three more statements and two notifications; it handles email that cannot be sent immediately. If the
 * process crashes first, the cleanup adds a job for the email.
 */
import pLimit from 'p-limit'

import {
  afterResponse,
  logFields,
  withLogFields,
} from '../../../observability/request-context/index.ts'

export interface FirstAttemptsDeps {
  /** Adds jobs for messages that are not attempted here. */
  deliver: (ids: readonly string[]) => Promise<void>
  /** Whether the job queue runs, which retries email that cannot be sent immediately. */
  isQueueRunning: () => boolean
  log: { warn(fields: object, message: string): void }
}

type Attempt = (signal: AbortSignal) => Promise<void>

/** Concurrent attempts, whose writes can be committed together. */
export const maxAttempts = 4
/** When more are waiting, the rest go to the job queue, which all replicas share. */
const maxWaiting = 100
/** Time between the start of shutdown and aborting attempts in progress. */
const abortAfterMs = 5_000

export function createFirstAttempts({ deliver, isQueueRunning, log }: FirstAttemptsDeps) {
  const run = pLimit(maxAttempts)
  const waiting = new Set<string>()
  const underWay = new Set<Promise<void>>()
  const ending = new AbortController()
  let stopped: Promise<void> | undefined

  async function begin(id: string, attempt: Attempt): Promise<void> {
    // It may have been passed to the job queue in between.
    if (!waiting.delete(id)) return
    try {
      await attempt(ending.signal)
    } catch (error) {
      // The database is lost; the email is still queued when it is back.
      log.warn({ err: error, message_id: id }, 'first attempt failed, email left to the job queue')
    }
  }

  function enter(id: string, attempt: Attempt): void {
    const done = run(begin, id, attempt)
    underWay.add(done)
    void done.finally(() => underWay.delete(done))
  }

  async function end(): Promise<void> {
    const ids = [...waiting]
    waiting.clear()
    setTimeout(() => ending.abort(), abortAfterMs).unref()
    if (ids.length > 0) {
      await deliver(ids).catch((error) => {
        log.warn(
          { err: error, mails: ids.length },
          'first attempts failed, emails left to the cleanup',
        )
      })
    }
    await Promise.all(underWay)
  }

  return {
    /** Whether this process attempts the message after the response; otherwise it needs a job. */
    takes(id: string, attempt: Attempt): boolean {
      if (stopped || waiting.size >= maxWaiting || !isQueueRunning()) return false
      const fields = { ...logFields() }
      if (!afterResponse(() => withLogFields(fields, () => enter(id, attempt)))) return false
      waiting.add(id)
      return true
    },

    /** Waits for attempts in progress and starts no others. May be called more than once. */
    stop(): Promise<void> {
      stopped ??= end()
      return stopped
    },
  }
}
