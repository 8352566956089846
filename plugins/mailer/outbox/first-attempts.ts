/**
 * The first attempt at a mail, made by the process that queued it as soon as the request is answered. The way through the
 * job queue is three more statements and two notices; it is for what cannot be sent at once. A mail that this process has
 * taken on and does not get to, because it dies, is given a job by the clean-up.
 */
import pLimit from 'p-limit'

import { logFields, onceAnswered, withLogFields } from '../../context.ts'

export interface FirstAttemptsDeps {
  /** Gives messages that are not attempted any more to the job queue. */
  handOver: (ids: readonly string[]) => Promise<void>
  /** Whether the job queue runs, which goes on with what cannot be sent at once. */
  isQueueUp: () => boolean
  log: { warn(fields: object, message: string): void }
}

type Attempt = (signal: AbortSignal) => Promise<void>

/** At a time, as in the job queue. */
const concurrency = 2
/** Where more wait, the others go to the job queue, which other processes share. */
const mostWaiting = 100
/** How long after the stop began those under way are told. */
const tellMs = 5_000

export function createFirstAttempts({ handOver, isQueueUp, log }: FirstAttemptsDeps) {
  const run = pLimit(concurrency)
  const waiting = new Set<string>()
  const underWay = new Set<Promise<void>>()
  const ending = new AbortController()
  let stopped: Promise<void> | undefined

  async function begin(id: string, attempt: Attempt): Promise<void> {
    // It may have been handed over meanwhile.
    if (!waiting.delete(id)) return
    try {
      await attempt(ending.signal)
    } catch (error) {
      // The database is lost; the mail is still there when it is back.
      log.warn({ err: error, messageId: id }, 'a mail is left to the job queue')
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
    setTimeout(() => ending.abort(), tellMs).unref()
    if (ids.length > 0) {
      await handOver(ids).catch((error) => {
        log.warn({ err: error, mails: ids.length }, 'mails are left to the clean-up')
      })
    }
    await Promise.all(underWay)
  }

  return {
    /** Whether this process attempts a message once the request is answered; else it needs a job. */
    takes(id: string, attempt: Attempt): boolean {
      if (stopped || waiting.size >= mostWaiting || !isQueueUp()) return false
      const fields = { ...logFields() }
      if (!onceAnswered(() => withLogFields(fields, () => enter(id, attempt)))) return false
      waiting.add(id)
      return true
    },

    /** Waits for those under way and begins no other. May be called more than once. */
    stop(): Promise<void> {
      stopped ??= end()
      return stopped
    },
  }
}
