/** From a row of the outbox to a mail that can be sent. */
import type { FastifyBaseLogger } from 'fastify'

import { type MailKind, mailKinds } from '../../../mail/kinds.ts'
import type { MailRenderer } from '../../../mail/render.ts'
import { messageIdOf } from '../../../mail/transport.ts'
import { StoredFormError } from '../../../schemas/stored.ts'
import type { Encryption } from '../../encryption.ts'
import type { Delivery } from '../deliver.ts'
import { type MailMessage, openPayload } from './payload.ts'
import { unknownForm, unknownKind, unreadable, unrendered } from './reasons.ts'

export interface ComposeDeps {
  encryption: Encryption
  renderer: MailRenderer
  /** Of mail whose language is not known. */
  fallbackLocale: string
  /** Its domain ends the Message-ID. */
  fromAddress: string
  log: Pick<FastifyBaseLogger, 'error'>
}

/** Why there is nothing to send, and whether there may be later. */
export interface NotComposed {
  reason: string
  mayPass: boolean
}

export type Compose = (message: MailMessage) => Promise<Delivery | NotComposed>

/** What is made cannot fail later for want of a key or a template; otherwise the reason says why. */
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
      const { to, variables, locale = fallbackLocale } = openPayload(encryption, kind, message)
      const rendered = await renderer.render(kind, variables, locale)
      const messageId = messageIdOf(id, fromAddress)
      return { kind, messageId, to, date: created_at, ...rendered, ...proofIn(variables) }
    } catch (error) {
      log.error({ err: error, messageId: id, kind }, 'a mail could not be composed')
      return notComposed(reasonOf(error))
    }
  }
}

/** While keys are changed, another replica may have the key, or this one after its restart. */
export function notComposed(reason: string): NotComposed {
  return { reason, mayPass: reason === unreadable }
}

export function isMailKind(kind: string): kind is MailKind {
  return Object.hasOwn(mailKinds, kind)
}

export function reasonOf(error: unknown): string {
  if (error instanceof StoredFormError) return unknownForm
  return error instanceof Error && error.name === 'DecryptionError' ? unreadable : unrendered
}

interface Proofs {
  ConfirmationURL?: string
  EndSessionURL?: string
  Token?: string
}

/** The link and the code, for the inbox of the development server. */
function proofIn(variables: object): Pick<Delivery, 'links' | 'code'> {
  const { ConfirmationURL, EndSessionURL, Token }: Proofs = variables
  const links = [ConfirmationURL, EndSessionURL].flatMap((link) => link || [])
  return { links, code: Token ?? null }
}
