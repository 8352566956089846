/** The encrypted payload of an outbox row, bound to that row. */
import { type Static, Type } from '@sinclair/typebox'
import { type Expression, type RawBuilder, sql } from 'kysely'

import type { WaitingMailMessage } from '../../../../db/emails/messages.ts'
import { addJobCall, type NewJob } from '../../../../db/jobs/jobs.ts'
import {
  type EmailKind,
  emailKindDefinitions,
  type MailVariables,
} from '../../../../mail/kinds/index.ts'
import { readStored } from '../../../../schemas/values/stored.ts'
import type { Encryption } from '../../../security/encryption/index.ts'

export interface MailPayload<Kind extends EmailKind = EmailKind> {
  to: string
  variables: MailVariables[Kind]
  /** Absent in email queued by older versions. */
  userId?: string
  /** The language of the email; absent in email queued by older versions. */
  locale?: string
  second?: SecondConfirmation | undefined
}

/** An email to be sent. */
export interface EmailMessage extends WaitingMailMessage {
  /** Set when this process has just encrypted it. */
  content?: MailPayload
}

/** The token that confirms the other address of an email change. */
export interface SecondConfirmation {
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

export function encryptPayload(encryption: Encryption, id: string, payload: MailPayload): string {
  const { second, ...rest } = payload
  const stored: Static<typeof Addressed> & MailPayload = {
    v: 1,
    ...rest,
    ...(second && { second }),
  }
  return encryption.encrypt(id, JSON.stringify(stored))
}

/** Throws DecryptionError when the key is not configured, and StoredFormError. */
export function decryptPayload(
  encryption: Encryption,
  kind: EmailKind,
  { id, payload, content }: EmailMessage,
): MailPayload {
  if (content) return content
  const schema = Type.Object({ ...address, variables: emailKindDefinitions[kind].variables })
  return readStored(schema, parsed(encryption, id, payload), what)
}

/** The recipient of a message of any kind. Throws like decryptPayload. */
export function recipientIn(encryption: Encryption, id: string, encrypted: string): string {
  return readStored(Addressed, parsed(encryption, id, encrypted), what).to
}

function parsed(encryption: Encryption, id: string, encrypted: string): unknown {
  return JSON.parse(encryption.decrypt(id, encrypted, what))
}

/** The task that sends one message. */
export const sendTask = 'send_mail'

/** Builds the statement that adds a message's send job; at most one job per message is queued. */
export type MailJobs = (id: Expression<string>, options?: JobOptions) => RawBuilder<unknown>

interface JobOptions extends Pick<NewJob, 'delayMs' | 'keepRunAt' | 'isFirst'> {
  /** The trace context of the email: a value, or a placeholder in a statement. */
  origin?: Expression<string | null> | string | undefined
}

export function createMailJobs(schema: string): MailJobs {
  return (id, { origin, ...timing } = {}) =>
    addJobCall(schema, {
      task: sendTask,
      payload: sql`json_strip_nulls(json_build_object('id', ${id}, 'origin', ${origin ?? null}::text))`,
      jobKey: sql<string>`'mail:' || ${id}`,
      ...timing,
    })
}
