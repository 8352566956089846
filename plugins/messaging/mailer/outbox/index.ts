/**
 * The email outbox in Postgres. An email is inserted in the transaction of the change that causes it, and sent at most
 * once, by this process or another (docs/mail.md covers crashes).
 */
import { randomUUID } from 'node:crypto'

import type { Trx } from '../../../../db/core/database.ts'
import { addMailJobs, insertEmail, mailInsertionWithJob } from '../../../../db/emails/messages.ts'
import { countMailBacklog } from '../../../../db/emails/queue.ts'
import type { EmailKind, MailVariables } from '../../../../mail/kinds/index.ts'
import type { MailRenderer } from '../../../../mail/render.ts'
import type { Deps } from '../../../define-plugin.ts'
import { unredacted } from '../../../observability/logger/index.ts'
import { shareReading } from '../../../observability/telemetry/shared-reading.ts'
import type { DeliverEmail } from '../deliver.ts'
import type { DeliverByHook, HookMail } from '../hook-delivery.ts'
import { scheduleEmailCleanup } from './cleanup.ts'
import {
  type ComposeDeps,
  createCompose,
  isMailKind,
  notComposed,
  sendFailureReason,
} from './compose.ts'
import { createFirstAttempts } from './first-attempts.ts'
import {
  createMailJobs,
  decryptPayload,
  type EmailMessage,
  encryptPayload,
  type MailPayload,
  type SecondConfirmation,
  sendTask,
} from './payload.ts'
import { unknownKind } from './reasons.ts'
import { createSender, type Sender, type SenderDeps } from './send.ts'

export interface MailRequest<Kind extends EmailKind> {
  kind: Kind
  to: string
  variables: MailVariables[Kind]
  /** The user that the email concerns; absent for a recipient without an account. */
  userId?: string | undefined
  /** The token for a second address, for a hook that sends both emails. */
  second?: SecondConfirmation | undefined
  /** When its link or code expires; an email due later is dropped. */
  expiresAt?: Date | undefined
  /** A UUID that the client already has. */
  messageId?: string | undefined
}

interface Sending {
  renderer: MailRenderer
  deliver: DeliverEmail
  retryDelay: RetryDelay
}

type Way<Ready extends object> = Pick<SenderDeps<Ready>, 'compose' | 'deliver' | 'retryDelay'>

/** Milliseconds to wait after this many attempts. */
export type RetryDelay = (attempts: number) => number

type MailJobs = ReturnType<typeof createMailJobs>

export type Outbox = ReturnType<typeof createOutbox>

type OutboxDeps = Deps<
  'config' | 'db' | 'encryption' | 'events' | 'jobQueue' | 'languages' | 'log' | 'telemetry'
>

export function createOutbox(deps: OutboxDeps) {
  const { config, encryption, jobQueue, languages, log, telemetry } = deps
  const jobs = createMailJobs(jobQueue.schema)
  const { tracing } = telemetry
  const insertWithJob = mailInsertionWithJob(jobs)
  const sending = createSending(deps, jobs)
  scheduleEmailCleanup(deps, jobs)
  addEmailBacklogGauges(deps)

  return {
    /** Inserts an email; it is sent only if `trx` commits. Returns the message's id. */
    async insert<Kind extends EmailKind>(
      trx: Trx,
      { kind, expiresAt, messageId: id = randomUUID(), ...request }: MailRequest<Kind>,
      now: Date,
    ): Promise<string> {
      const { to, variables, userId, second } = request
      const locale = languages.tagFor(variables.Data)
      const content: MailPayload = { to, variables, locale, second, ...(userId && { userId }) }
      const payload = encryptPayload(encryption, id, content)
      const queued = { id, kind, payload, expires_at: expiresAt ?? null }
      const row = { ...queued, user_id: userId ?? null, locale, now }
      const origin = tracing.origin()
      const message = { ...queued, attempts: 0, created_at: now, content }
      if (sending.takes(message, origin)) await insertEmail(trx, row)
      else await insertWithJob(trx, { ...row, origin: origin ?? null })
      return id
    },

    /** Once the job queue starts, this process sends queued email. */
    send({ renderer, deliver, retryDelay }: Sending): void {
      const fromAddress = config.AUTH_SMTP_ADMIN_EMAIL ?? 'postern@localhost'
      const compose = createCompose({
        encryption,
        renderer,
        fromAddress,
        log,
        fallbackLocale: languages.fallback,
      })
      sending.start({ compose, deliver, retryDelay })
    },

    /** Sends through the hook instead, which renders by itself. */
    sendByHook(deliver: DeliverByHook, retryDelay: RetryDelay): void {
      sending.start({ compose: createHookCompose({ encryption, log }), deliver, retryDelay })
    },

    /** Waits for email being sent, and starts nothing new. */
    stop: sending.stop,
  }
}

/** Defines how this process sends: the first attempt directly after the response, further ones as jobs of the queue. */
function createSending({ db, events, jobQueue, log, telemetry }: OutboxDeps, jobs: MailJobs) {
  const { metrics, tracing } = telemetry
  const firstAttempts = createFirstAttempts({
    deliver: (ids) => addMailJobs(db, ids, jobs),
    isQueueRunning: () => jobQueue.downMs() === 0,
    log,
  })
  /** Undefined in a process that sends no email. */
  let sender: Sender | undefined

  const onAttempt = (result: string) =>
    metrics.count('postern.emails', { outcome: result === 'ambiguous' ? 'unknown' : result })

  return {
    start<Ready extends object>(way: Way<Ready>): void {
      const watch = { log: unredacted(log), onAttempt, origin: tracing.origin }
      const { send, sendById } = createSender({
        db,
        jobs,
        emitsDeadLetters: events.enabled,
        ...watch,
        ...way,
      })
      sender = send
      jobQueue.addTask(sendTask, (payload, { signal }) => sendById(idIn(payload), signal))
    },

    /** Whether this process sends the message itself, after the response. */
    takes(message: EmailMessage, origin: string | undefined): boolean {
      const send = sender
      if (send === undefined) return false
      const attempt = (signal: AbortSignal) =>
        tracing.job(`job ${sendTask}`, origin, () => send(message, signal))
      return firstAttempts.takes(message.id, attempt)
    },

    async stop(): Promise<void> {
      // The queue stops at the same time: it must not start jobs that the first attempts pass to it.
      await Promise.all([jobQueue.stop(), firstAttempts.stop()])
    },
  }
}

function idIn(payload: unknown): string {
  if (typeof payload === 'object' && payload !== null && 'id' in payload) return String(payload.id)
  throw new TypeError(`a ${sendTask} job has no message id`)
}

/** Converts an outbox row to the payload of the email hook. */
function createHookCompose({ encryption, log }: Pick<ComposeDeps, 'encryption' | 'log'>) {
  return async (message: EmailMessage) => {
    const { id, kind } = message
    if (!isMailKind(kind)) return notComposed(unknownKind)
    try {
      const mail: HookMail = { id, kind, ...decryptPayload(encryption, kind, message) }
      return mail
    } catch (error) {
      log.error({ err: error, message_id: id, kind }, 'email could not be decrypted')
      return notComposed(sendFailureReason(error))
    }
  }
}

/** Metrics of queued email. */
function addEmailBacklogGauges({ db, telemetry }: Deps<'db' | 'telemetry'>): void {
  const { metrics } = telemetry
  const backlog = shareReading(() => countMailBacklog(db))

  metrics.gauge('postern.emails.queued', async () => [
    { value: (await backlog()).waiting, labels: {} },
  ])
  metrics.gauge('postern.emails.dead_lettered', async () => [
    { value: (await backlog()).dead, labels: {} },
  ])
  metrics.gauge('postern.emails.oldest_queued_age', async () => {
    const { oldest_waiting } = await backlog()
    const seconds = oldest_waiting ? (Date.now() - oldest_waiting.getTime()) / 1000 : 0
    return [{ value: Math.max(0, seconds), labels: {} }]
  })
}
