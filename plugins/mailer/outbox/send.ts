/**
 * The worker's side of the outbox. A message goes out at most once, whatever crashes: the claim is committed
 * before the mail server hears of it, and what may have been accepted is never sent again by itself.
 */
import { markMailDead } from '../../../db/dead-mail.ts'
import { claimMailMessage, findWaitingMail } from '../../../db/mail-messages.ts'
import type { NotComposed } from './compose.ts'
import { outcomeOf } from './outcome.ts'
import type { MailMessage } from './payload.ts'
import { expired } from './reasons.ts'
import { createRecord, type RecordDeps } from './record.ts'
import { retryWrite } from './retry-write.ts'

/** `Ready` is what a message becomes before it is handed over. */
export interface SenderDeps<Ready extends object> extends RecordDeps {
  compose: (message: MailMessage) => Promise<Ready | NotComposed>
  /** Resolves to what was said to it. Throws MailTransportError. */
  deliver: (ready: Ready) => Promise<string>
}

/** Sends a message as it waits. Throws when the database cannot be reached. */
export type Sender = (message: MailMessage, signal: AbortSignal) => Promise<void>

export function createSender<Ready extends object>(deps: SenderDeps<Ready>) {
  const { db, compose, deliver, log } = deps
  const record = createRecord(deps)

  async function drop(
    message: MailMessage,
    { reason, keepPayload }: { reason: string; keepPayload: boolean },
  ) {
    log.warn({ messageId: message.id, kind: message.kind, reason }, 'a mail was dropped')
    const dead = { reason, outcome: null, keepPayload, isTold: deps.tellsDead }
    await markMailDead(db, message, dead, new Date())
  }

  const send: Sender = async (message, signal) => {
    if (message.expires_at && message.expires_at <= new Date()) {
      return drop(message, { reason: expired, keepPayload: false })
    }
    const composed = await compose(message)
    if ('reason' in composed && !composed.mayPass) {
      return drop(message, { reason: composed.reason, keepPayload: true })
    }
    const claim = await claimMailMessage(db, message, new Date())
    if (!claim) return
    const outcome =
      'reason' in composed
        ? { result: 'temporary' as const, reason: composed.reason }
        : await outcomeOf(deliver, composed)
    await retryWrite(() => record(message, claim, outcome), signal)
  }

  return {
    send,

    /** Sends a message that waits, and does nothing for any other. Throws like `send`. */
    async sendById(id: string, signal: AbortSignal): Promise<void> {
      const message = await findWaitingMail(db, id)
      if (message) await send(message, signal)
    },
  }
}
