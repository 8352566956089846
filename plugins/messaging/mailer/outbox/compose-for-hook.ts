/** Converts an outbox row to the payload of the email hook. */
import type { HookMail } from '../hook-delivery.ts'
import { type ComposeDeps, isMailKind, notComposed, sendFailureReason } from './compose.ts'
import { decryptPayload, type EmailMessage } from './payload.ts'
import { unknownKind } from './reasons.ts'

export function createHookCompose({ encryption, log }: Pick<ComposeDeps, 'encryption' | 'log'>) {
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
