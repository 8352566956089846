/**
 * The worker of the outbox. An email is sent at most once, even across crashes: its lease is committed before the mail
 * server is called, and an email that may have been accepted is never retried automatically.
 */
import { moveToDeadLetter } from '../../../../db/emails/give-up.ts'
import { findQueuedEmail, leaseEmail } from '../../../../db/emails/messages.ts'
import type { NotComposed } from './compose.ts'
import { attemptDelivery } from './outcome.ts'
import type { EmailMessage } from './payload.ts'
import { expired } from './reasons.ts'
import { createRecord, type RecordDeps } from './record.ts'
import { retryWrite } from './retry-write.ts'
import { createWriteTimes } from './write-times.ts'

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
