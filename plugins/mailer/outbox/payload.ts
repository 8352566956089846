/** What a message in the outbox holds, in the one form in which it may lie in the database: encrypted for its row. */
import { type Static, Type } from '@sinclair/typebox'

import type { WaitingMailMessage } from '../../../db/mail-messages.ts'
import { type MailKind, mailKinds } from '../../../mail/kinds.ts'
import type { MailVariables } from '../../../mail/variables.ts'
import { readStored } from '../../../schemas/stored.ts'
import type { Encryption } from '../../encryption.ts'

export interface MailPayload<Kind extends MailKind = MailKind> {
  to: string
  variables: MailVariables[Kind]
  /** Mail that was queued by an older version has none. */
  userId?: string
  /** The language it is written in; the same holds. */
  locale?: string
  second?: SecondProof | undefined
}

/** A message to be sent. */
export interface MailMessage extends WaitingMailMessage {
  /** Where this process has just sealed it. */
  content?: MailPayload
}

/** What proves the other address of a change. */
export interface SecondProof {
  code: string
  linkToken: string
}

const what = 'A queued mail'
const address = {
  v: Type.Literal(1),
  to: Type.String(),
  userId: Type.Optional(Type.String()),
  second: Type.Optional(Type.Object({ code: Type.String(), linkToken: Type.String() })),
  locale: Type.Optional(Type.String()),
}
const Addressed = Type.Object(address)

export function sealPayload(encryption: Encryption, id: string, payload: MailPayload): string {
  const { second, ...rest } = payload
  const stored: Static<typeof Addressed> & MailPayload = {
    v: 1,
    ...rest,
    ...(second && { second }),
  }
  return encryption.encrypt(id, JSON.stringify(stored))
}

/** Throws DecryptionError when the key it was sealed with is not configured, and StoredFormError. */
export function openPayload(
  encryption: Encryption,
  kind: MailKind,
  { id, payload, content }: MailMessage,
): MailPayload {
  if (content) return content
  const schema = Type.Object({ ...address, variables: mailKinds[kind].variables })
  return readStored(schema, parsed(encryption, id, payload), what)
}

/** To whom a message of any kind goes. Throws what openPayload throws. */
export function recipientIn(encryption: Encryption, id: string, sealed: string): string {
  return readStored(Addressed, parsed(encryption, id, sealed), what).to
}

function parsed(encryption: Encryption, id: string, sealed: string): unknown {
  return JSON.parse(encryption.decrypt(id, sealed, what))
}
