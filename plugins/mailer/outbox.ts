/**
 * The outbox: mail that is to be sent, kept in Postgres. It is put there in the transaction of the change that causes
 * it; this process sends it, or any other, at most once (docs/mail.md says what that means when something crashes).
 */
import { randomUUID } from 'node:crypto'

import type { Trx } from '../../db/database.ts'
import { addMailJobs } from '../../db/mail-messages.ts'
import { insertMail, mailInsertionWithJob } from '../../db/new-mail.ts'
import type { MailKind } from '../../mail/kinds.ts'
import type { MailRenderer } from '../../mail/render.ts'
import type { MailVariables } from '../../mail/variables.ts'
import type { House } from '../define-plugin.ts'
import { unredacted } from '../logger.ts'
import type { Deliver } from './deliver.ts'
import type { DeliverByHook } from './hook-delivery.ts'
import { addBacklogGauges } from './outbox/backlog-gauges.ts'
import { scheduleCleanup } from './outbox/clean-up.ts'
import { createCompose } from './outbox/compose.ts'
import { createHookCompose } from './outbox/compose-for-hook.ts'
import { createFirstAttempts } from './outbox/first-attempts.ts'
import { createMailJobs, sendTask } from './outbox/job.ts'
import {
  type MailMessage,
  type MailPayload,
  type SecondProof,
  sealPayload,
} from './outbox/payload.ts'
import { createSender, type Sender, type SenderDeps } from './outbox/send.ts'

export interface MailRequest<Kind extends MailKind> {
  kind: Kind
  to: string
  variables: MailVariables[Kind]
  /** Whom it is about. */
  userId: string
  /** The proof that a second address carries, for a hook that mails both. */
  second?: SecondProof | undefined
  /** When its link or code ends; a mail that would come later is dropped. */
  expiresAt?: Date | undefined
  /** A UUID, when the client has been told one. */
  messageId?: string | undefined
}

export interface Sending {
  renderer: MailRenderer
  deliver: Deliver
  retryDelay: RetryDelay
}

type Way<Ready extends object> = Pick<SenderDeps<Ready>, 'compose' | 'deliver' | 'retryDelay'>

/** Milliseconds to wait after so many attempts. */
export type RetryDelay = (attempts: number) => number

/** More than a minute for the mail server and four for a database that is lost meanwhile (retry-write.ts). */
const leaseSeconds = 360

export type Outbox = ReturnType<typeof createOutbox>

type OutboxHouse = House<
  'config' | 'db' | 'encryption' | 'events' | 'jobQueue' | 'languages' | 'log' | 'telemetry'
>

export function createOutbox(house: OutboxHouse) {
  const { config, db, encryption, events, jobQueue, languages, log, telemetry } = house
  const jobs = createMailJobs(jobQueue.schema)
  const { tracing } = telemetry
  const insertWithJob = mailInsertionWithJob(jobs)
  const firstAttempts = createFirstAttempts({
    handOver: (ids) => addMailJobs(db, ids, jobs),
    isQueueUp: () => jobQueue.downMs() === 0,
    log,
  })
  /** Undefined in a process that sends no mail. */
  let sender: Sender | undefined
  scheduleCleanup(house, jobs)
  addBacklogGauges(house)

  function work<Ready extends object>(way: Way<Ready>): void {
    const onAttempt = (outcome: string) => telemetry.metrics.count('postern.mails', { outcome })
    const { origin } = tracing
    const watch = { log: unredacted(log), onAttempt, origin }
    const { send, sendById } = createSender({
      db,
      jobs,
      tellsDead: events.enabled,
      ...watch,
      ...way,
    })
    sender = send
    jobQueue.addTask(sendTask, (payload, { signal }) => sendById(idIn(payload), signal), {
      leaseSeconds,
    })
  }

  /** Whether this process sends the message by itself, once the request is answered. */
  function takes(message: MailMessage, origin: string | undefined): boolean {
    const send = sender
    if (send === undefined) return false
    const attempt = (signal: AbortSignal) =>
      tracing.job(`job ${sendTask}`, origin, () => send(message, signal))
    return firstAttempts.takes(message.id, attempt)
  }

  return {
    /** The mail exists when `trx` commits, and never when it does not. Returns the message's id. */
    async put<Kind extends MailKind>(
      trx: Trx,
      { kind, expiresAt, messageId: id = randomUUID(), ...asked }: MailRequest<Kind>,
      now: Date,
    ): Promise<string> {
      const { to, variables, userId, second } = asked
      const locale = languages.tagFor(variables.Data)
      const content: MailPayload = { to, variables, userId, locale, second }
      const payload = sealPayload(encryption, id, content)
      const queued = { id, kind, payload, expires_at: expiresAt ?? null }
      const row = { ...queued, user_id: userId, locale, now }
      const origin = tracing.origin()
      const message = { ...queued, attempts: 0, created_at: now, content }
      if (takes(message, origin)) await insertMail(trx, row)
      else await insertWithJob(trx, { ...row, origin: origin ?? null })
      return id
    },

    /** From the start of the job queue on, this process sends what waits. */
    send({ renderer, deliver, retryDelay }: Sending): void {
      const fromAddress = config.AUTH_SMTP_ADMIN_EMAIL ?? 'postern@localhost'
      const compose = createCompose({
        encryption,
        renderer,
        fromAddress,
        log,
        fallbackLocale: languages.fallback,
      })
      work({ compose, deliver, retryDelay })
    },

    /** The same by the operator's hook: what is rendered then is the hook's own affair. */
    sendByHook(deliver: DeliverByHook, retryDelay: RetryDelay): void {
      work({ compose: createHookCompose({ encryption, log }), deliver, retryDelay })
    },

    /** Waits for what is being sent, and begins nothing new. */
    async stop(): Promise<void> {
      // The queue at the same time, or it would begin with what is handed over.
      await Promise.all([jobQueue.stop(), firstAttempts.stop()])
    },
  }
}

function idIn(payload: unknown): string {
  if (typeof payload === 'object' && payload !== null && 'id' in payload) return String(payload.id)
  throw new TypeError(`a job of ${sendTask} names no message`)
}
