/** Converts an outbox row to an email. */
import type { FastifyBaseLogger } from 'fastify'

import { type EmailKind, emailKindDefinitions } from '../../../../mail/kinds/index.ts'
import type { MailRenderer } from '../../../../mail/render.ts'
import { buildMessageId } from '../../../../mail/transport.ts'
import { StoredFormError } from '../../../../schemas/values/stored.ts'
import type { Encryption } from '../../../security/encryption/index.ts'
import type { EmailDelivery } from '../deliver.ts'
import { decryptPayload, type EmailMessage } from './payload.ts'
import { undecryptable, unknownForm, unknownKind, unrendered } from './reasons.ts'

export interface ComposeDeps {
  encryption: Encryption
  renderer: MailRenderer
  /** For email in an unknown language. */
  fallbackLocale: string
  /** Its domain ends the Message-ID. */
  fromAddress: string
  log: Pick<FastifyBaseLogger, 'error'>
}

/** Why an email cannot be sent, and whether it may be possible later. */
export interface NotComposed {
  reason: string
  mayPass: boolean
}

type Compose = (message: EmailMessage) => Promise<EmailDelivery | NotComposed>

/** Composes before the attempt, so that a missing key or template cannot make the attempt fail. */
export function createCompose({
  encryption,
  renderer,
  fallbackLocale,
  fromAddress,
  log,
}: ComposeDeps): Compose {
  return async (message) => {
    const { id, kind, created_at } = message
    // Another version of the server may have queued it.
    if (!isMailKind(kind)) return notComposed(unknownKind)
    try {
      const { to, variables, locale = fallbackLocale } = decryptPayload(encryption, kind, message)
      const rendered = await renderer.render(kind, variables, locale)
      const messageId = buildMessageId(id, fromAddress)
      return { kind, messageId, to, date: created_at, ...rendered, code: codeIn(variables) }
    } catch (error) {
      log.error({ err: error, message_id: id, kind }, 'email could not be rendered')
      return notComposed(sendFailureReason(error))
    }
  }
}

/** During a key rotation another replica may have the key, or this one after its restart. */
export function notComposed(reason: string): NotComposed {
  return { reason, mayPass: reason === undecryptable }
}

export function isMailKind(kind: string): kind is EmailKind {
  return Object.hasOwn(emailKindDefinitions, kind)
}

export function sendFailureReason(error: unknown): string {
  if (error instanceof StoredFormError) return unknownForm
  return error instanceof Error && error.name === 'DecryptionError' ? undecryptable : unrendered
}

/** The code, for the development inbox. */
function codeIn(variables: object): string | null {
  const { Token }: { Token?: string } = variables
  return Token ?? null
}
