/**
 * The worker of the outbox. An email is sent at most once, even across crashes: its lease is committed before the mail
 * server is called, and an email that may have been accepted is never retried automatically.
 */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'

import type { Db } from '../../../../db/core/database.ts'
import { moveToDeadLetter } from '../../../../db/emails/dead-letters.ts'
import {
  type EmailAttempt,
  findQueuedEmail,
  leaseEmail,
  markEmailSent,
  requeueMailMessage,
  type WaitingMailMessage,
} from '../../../../db/emails/messages.ts'
import { MailTransportError, type SendOutcome } from '../../../../mail/transport-error.ts'
import type { NotComposed } from './compose.ts'
import { maxAttempts } from './first-attempts.ts'
import type { EmailMessage, MailJobs } from './payload.ts'
import { expired, gaveUp, quotedWords, uncertain } from './reasons.ts'

/** `Ready` is the composed message. */
export interface SenderDeps<Ready extends object> extends RecordDeps {
  compose: (message: EmailMessage) => Promise<Ready | NotComposed>
  /** Resolves to the response. Throws MailTransportError. */
  deliver: (ready: Ready) => Promise<string>
}

/** Sends a queued message. Throws when the database is unreachable. */
export type Sender = (message: EmailMessage, signal: AbortSignal) => Promise<void>

export function createSender<Ready extends object>(deps: SenderDeps<Ready>) {
  const { db, compose, deliver, log } = deps
  const record = createRecord(deps)
  const nextWrite = createWriteTimes()

  async function drop(
    message: EmailMessage,
    { reason, keepPayload }: { reason: string; keepPayload: boolean },
  ) {
    log.warn({ message_id: message.id, kind: message.kind, reason }, 'email dropped')
    const dead = { reason, outcome: null, keepPayload, emitEvent: deps.emitsDeadLetters }
    await moveToDeadLetter(db, message, dead, new Date())
  }

  const send: Sender = async (message, signal) => {
    if (message.expires_at && message.expires_at <= new Date()) {
      return drop(message, { reason: expired, keepPayload: false })
    }
    const composed = await compose(message)
    if ('reason' in composed && !composed.mayPass) {
      return drop(message, { reason: composed.reason, keepPayload: true })
    }
    await nextWrite()
    const claim = await leaseEmail(db, message, new Date())
    if (!claim) return
    const outcome =
      'reason' in composed
        ? { result: 'temporary' as const, reason: composed.reason }
        : await attemptDelivery(deliver, composed)
    await nextWrite()
    await retryWrite(() => record(message, claim, outcome), signal)
  }

  return {
    send,

    /** Sends a queued message, and does nothing for any other. Throws like `send`. */
    async sendById(id: string, signal: AbortSignal): Promise<void> {
      const message = await findQueuedEmail(db, id)
      if (message) await send(message, signal)
    },
  }
}

const firstPauseMs = 200

const maxPauseMs = 5_000

const maxDurationMs = 4 * 60_000

/**
 * Retries `write` until it succeeds, so that the result of an attempt is stored after a lost database returns. Throws
 * its last error after four minutes, or when the server has to stop.
 */
export async function retryWrite(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + maxDurationMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await write()
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error
      await pause(pauseMs, undefined, { signal }).catch(() => {})
    }
  }
}

const intervalMs = 25

/**
 * Returns a function that waits for the next time to write: now, or 25 ms after the previous one, or as soon as four
 * attempts wait. What is written at one time is committed together (plugins/database/driver/group-commit.ts).
 */
export function createWriteTimes(): () => Promise<void> {
  const waiting: (() => void)[] = []
  let last = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(timer)
    last = performance.now()
    for (const proceed of waiting.splice(0)) proceed()
  }

  return () =>
    new Promise((proceed) => {
      waiting.push(proceed)
      const restMs = Math.max(0, last + intervalMs - performance.now())
      if (waiting.length === 1) timer = setTimeout(write, restMs)
      if (waiting.length === maxAttempts) write()
    })
}

interface RecordDeps {
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
function createRecord(deps: RecordDeps) {
  const { db, jobs, log, retryDelay, onAttempt, origin } = deps
  const markDead = createDeadLetters(deps)

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

/** Moves messages to the dead letters, from which an operator can send them again. */
function createDeadLetters({
  db,
  emitsDeadLetters,
  log,
}: Pick<RecordDeps, 'db' | 'emitsDeadLetters' | 'log'>) {
  return async (
    { id, kind }: WaitingMailMessage,
    attempt: EmailAttempt,
    outcome: SendOutcome,
    reason: string,
    now: Date,
  ) => {
    const letter = { reason, outcome, keepPayload: true, emitEvent: emitsDeadLetters }
    await moveToDeadLetter(db, attempt, letter, now)
    log.warn({ message_id: id, kind, reason }, 'email moved to dead letters')
  }
}

/** The result of one attempt; the texts contain no address. */
type AttemptOutcome = { result: 'sent'; response: string } | { result: SendOutcome; reason: string }

async function attemptDelivery<Ready>(
  deliver: (ready: Ready) => Promise<string>,
  mail: Ready,
): Promise<AttemptOutcome> {
  try {
    return { result: 'sent', response: quotedWords(await deliver(mail)) }
  } catch (error) {
    if (!(error instanceof MailTransportError)) {
      // An unknown error: the email may have been sent.
      return { result: 'ambiguous', reason: quotedWords(String(error)) }
    }
    const { outcome, message, response } = error
    const reason = response ? `${message}: ${response}` : message
    return { result: outcome, reason: quotedWords(reason) }
  }
}
