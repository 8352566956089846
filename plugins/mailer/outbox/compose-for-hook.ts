/** From a row of the outbox to what the operator's hook is told. */
import type { HookMail } from '../hook-delivery.ts'
import { type ComposeDeps, isMailKind, notComposed, reasonOf } from './compose.ts'
import { type MailMessage, openPayload } from './payload.ts'
import { unknownKind } from './reasons.ts'

export function createHookCompose({ encryption, log }: Pick<ComposeDeps, 'encryption' | 'log'>) {
  return async (message: MailMessage) => {
    const { id, kind } = message
    if (!isMailKind(kind)) return notComposed(unknownKind)
    try {
      const mail: HookMail = { id, kind, ...openPayload(encryption, kind, message) }
      return mail
    } catch (error) {
      log.error({ err: error, messageId: id, kind }, 'a mail could not be read')
      return notComposed(reasonOf(error))
    }
  }
}
