import type { FastifyBaseLogger } from 'fastify'

import type { Db } from '../../../../db/core/database.ts'
import { moveToDeadLetter } from '../../../../db/emails/give-up.ts'
import {
  type EmailAttempt,
  markEmailSent,
  requeueMailMessage,
  type WaitingMailMessage,
} from '../../../../db/emails/messages.ts'
import type { SendOutcome } from '../../../../mail/transport-error.ts'
import type { MailJobs } from './job.ts'
import type { AttemptOutcome } from './outcome.ts'
import { gaveUp, uncertain } from './reasons.ts'

export interface RecordDeps {
  db: Db
  jobs: MailJobs
  /** Whether events are enabled. */
  emitsDeadLetters: boolean
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Milliseconds to wait after this many attempts. */
  retryDelay: (attempts: number) => number
  onAttempt?: (outcome: AttemptOutcome['result']) => void
  /** The trace context of this attempt, so that the next attempt continues its trace. */
  origin?: () => string | undefined
}

/** Email without an expiring link or code is retried for three days. */
const maxWaitMs = 3 * 24 * 3600_000

/** Stores the result of an attempt. May be called again after it threw. */
export function createRecord(deps: RecordDeps) {
  const { db, jobs, emitsDeadLetters, log, retryDelay, onAttempt, origin } = deps

  async function wait(
    message: WaitingMailMessage,
    attempt: EmailAttempt,
    reason: string,
    now: Date,
  ) {
    if (!message.expires_at && now.getTime() - message.created_at.getTime() > maxWaitMs) {
      return markDead(message, attempt, 'temporary', `${gaveUp}: ${reason}`, now)
    }
    const delayMs = retryDelay(attempt.attempts)
    const next = { delayMs, origin: origin?.() }
    await requeueMailMessage(db, attempt, reason, (id) => jobs(id, next), now)
    const { id, kind } = message
    const next_attempt = new Date(now.getTime() + delayMs)
    log.warn({ message_id: id, kind, reason, next_attempt }, 'email deferred')
  }

  async function markDead(
    message: WaitingMailMessage,
    attempt: EmailAttempt,
    outcome: SendOutcome,
    reason: string,
    now: Date,
  ) {
    await moveToDeadLetter(
      db,
      attempt,
      { reason, outcome, keepPayload: true, emitEvent: emitsDeadLetters },
      now,
    )
    log.warn({ message_id: message.id, kind: message.kind, reason }, 'email moved to dead letters')
  }

  return async (
    message: WaitingMailMessage,
    attempt: EmailAttempt,
    outcome: AttemptOutcome,
  ): Promise<void> => {
    const now = new Date()
    onAttempt?.(outcome.result)
    switch (outcome.result) {
      case 'sent': {
        await markEmailSent(db, attempt, outcome.response, now)
        const { id, kind } = message
        log.info({ message_id: id, kind, response: outcome.response }, 'email sent')
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
