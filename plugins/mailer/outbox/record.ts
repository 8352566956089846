import type { FastifyBaseLogger } from 'fastify'

import type { Db } from '../../../db/database.ts'
import { markMailDead } from '../../../db/dead-mail.ts'
import {
  type Attempt,
  markMailSent,
  requeueMailMessage,
  type WaitingMailMessage,
} from '../../../db/mail-messages.ts'
import type { SendOutcome } from '../../../mail/transport-error.ts'
import type { MailJobs } from './job.ts'
import type { Outcome } from './outcome.ts'
import { gaveUp, uncertain } from './reasons.ts'

export interface RecordDeps {
  db: Db
  jobs: MailJobs
  /** Events are on. */
  tellsDead: boolean
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Milliseconds to wait after so many attempts. */
  retryDelay: (attempts: number) => number
  onAttempt?: (outcome: Outcome['result']) => void
  /** What names the trace of this attempt, so that the next one is in it as well. */
  origin?: () => string | undefined
}

/** Mail without a link or code, which nothing makes stale, is tried for three days. */
const longestWaitMs = 3 * 24 * 3600_000

/** Writes down what became of an attempt. May be called again after it threw. */
export function createRecord(deps: RecordDeps) {
  const { db, jobs, tellsDead, log, retryDelay, onAttempt, origin } = deps

  async function wait(message: WaitingMailMessage, attempt: Attempt, reason: string, now: Date) {
    if (!message.expires_at && now.getTime() - message.created_at.getTime() > longestWaitMs) {
      return markDead(message, attempt, 'temporary', `${gaveUp}: ${reason}`, now)
    }
    const delayMs = retryDelay(attempt.attempts)
    const next = { delayMs, origin: origin?.() }
    await requeueMailMessage(db, attempt, reason, (id) => jobs(id, next), now)
    const { id, kind } = message
    const nextAttempt = new Date(now.getTime() + delayMs)
    log.warn({ messageId: id, kind, reason, nextAttempt }, 'a mail could not be sent yet')
  }

  async function markDead(
    message: WaitingMailMessage,
    attempt: Attempt,
    outcome: SendOutcome,
    reason: string,
    now: Date,
  ) {
    await markMailDead(db, attempt, { reason, outcome, keepPayload: true, isTold: tellsDead }, now)
    log.warn({ messageId: message.id, kind: message.kind, reason }, 'a mail is a dead letter')
  }

  return async (message: WaitingMailMessage, attempt: Attempt, outcome: Outcome): Promise<void> => {
    const now = new Date()
    onAttempt?.(outcome.result)
    switch (outcome.result) {
      case 'sent': {
        await markMailSent(db, attempt, outcome.response, now)
        const { id, kind } = message
        log.info({ messageId: id, kind, response: outcome.response }, 'a mail was accepted')
        return
      }
      case 'temporary':
        return wait(message, attempt, outcome.reason, now)
      case 'permanent':
        return markDead(message, attempt, 'permanent', outcome.reason, now)
      case 'ambiguous':
        return markDead(message, attempt, 'ambiguous', `${uncertain}: ${outcome.reason}`, now)
    }
  }
}
