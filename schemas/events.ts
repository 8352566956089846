/** What happened, as webhooks and GET /admin/events tell it: every type of event, with the shape of its data. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

import { nullable } from './choices.ts'
import { Timestamp } from './timestamp.ts'

const Id = Type.String({ format: 'uuid' })
const Text = Type.String()

/** The person as they are after the event. It grows by fields, and loses none. */
export const EventUser = Type.Object(
  {
    id: Id,
    aud: Text,
    role: Text,
    email: Text,
    phone: Text,
    email_confirmed_at: nullable(Timestamp),
    phone_confirmed_at: nullable(Timestamp),
    is_anonymous: Type.Boolean(),
    is_sso_user: Type.Boolean(),
    app_metadata: Type.Record(Text, Type.Unknown()),
    user_metadata: Type.Record(Text, Type.Unknown()),
    banned_until: nullable(Timestamp),
    created_at: nullable(Timestamp),
    updated_at: nullable(Timestamp),
  },
  { title: 'EventUser' },
)

interface Options {
  /** The data hold the person, too. */
  withUser?: boolean
}

function kind<Facts extends TProperties>(
  description: string,
  facts: Facts,
  { withUser = false }: Options = {},
) {
  return { description, facts: Type.Object(facts), withUser }
}

const identity = { identity_id: Id, provider: Text, provider_id: Text }
const session = { session_id: Id }
const device = { ip: nullable(Text), user_agent: nullable(Text) }
const address = { previous: nullable(Text), current: Text }
const person = { withUser: true }

export const eventKinds = {
  'user.created': kind('An account was made', {}, person),
  'user.updated': kind('The record or the metadata of an account were changed', {}, person),
  'user.invited': kind('An admin invited somebody', {}, person),
  'user.banned': kind('An admin banned somebody', { banned_until: Timestamp }, person),
  'user.unbanned': kind('An admin lifted a ban', {}, person),
  'user.deleted': kind('An account was deleted; its sessions ended with it', {
    soft: Type.Boolean({ description: 'The row was kept, without what tells who it was' }),
  }),
  'user.signed_in': kind('A session was opened', {
    ...session,
    ...device,
    method: Text,
    aal: Text,
  }),
  'user.signed_out': kind('Somebody signed out; each session that ended has its own event', {}),
  'user.impersonated': kind('An admin opened a session in the place of somebody', {}),
  'session.revoked': kind('A session was ended before its time', session),
  'reuse.detected': kind('A refresh token came back after it had been used; its session ended', {
    ...session,
  }),
  'password.changed': kind('A password was set or changed', {}),
  'email.confirmed': kind('An email address was proven', { email: Text }),
  'email.changed': kind('An account got another email address', address),
  'phone.confirmed': kind('A phone number was proven', { phone: Text }),
  'phone.changed': kind('An account got another phone number', address),
  'identity.linked': kind('An account at a provider was linked', identity),
  'identity.unlinked': kind('An account at a provider was unlinked', identity),
  'factor.enrolled': kind('A second factor was confirmed', { factor_id: Id, factor_type: Text }),
  'factor.unenrolled': kind('A second factor was removed', { factor_id: Id, factor_type: Text }),
  'passkey.created': kind('A passkey was added', { passkey_id: Id }),
  'passkey.deleted': kind('A passkey was removed', { passkey_id: Id }),
  'recovery_code.used': kind('A recovery code took the place of a second factor', {
    remaining: Type.Integer(),
  }),
  'mail.dead': kind('A mail was given up', { message_id: Id, kind: Text, reason: Text }),
  'key.rotated': kind('A new signing key was made', { kid: Text }),
  'key.imported': kind('A signing key was brought in', { kid: Text }),
  'key.revoked': kind('A signing key was revoked', { kid: Text }),
} as const

export type EventType = keyof typeof eventKinds
export type FactsOf<T extends EventType> = Static<(typeof eventKinds)[T]['facts']>

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(eventKinds, name)
}

export const eventTypes: EventType[] = Object.keys(eventKinds).filter(isEventType)

/** About nobody in particular when `user_id` is null. */
export const EventData = Type.Object(
  { user_id: nullable(Id), user: Type.Optional(EventUser) },
  { additionalProperties: true },
)

/** The body of a webhook (Standard Webhooks). */
export const WebhookBody = Type.Object(
  { type: Text, timestamp: Timestamp, data: EventData },
  { title: 'WebhookBody' },
)

/** The exact body of one type. */
export function webhookBodyOf(type: EventType) {
  const { description, facts, withUser } = eventKinds[type]
  const data = { user_id: nullable(Id), ...facts.properties, ...(withUser && { user: EventUser }) }
  return Type.Object(
    { type: Type.Literal(type), timestamp: Timestamp, data: Type.Object(data) },
    { description },
  )
}

/** What an admin has sent to an endpoint to see its answer; it is no event of the stream. */
export const TestBody = Type.Object(
  {
    type: Type.Literal('webhook.test'),
    timestamp: Timestamp,
    data: Type.Object({ user_id: Type.Null(), webhook_id: Id }),
  },
  { description: 'An admin tests a webhook' },
)

/** An event in the stream. */
export const StreamedEvent = Type.Object(
  {
    id: Id,
    position: Type.Integer(),
    type: Text,
    timestamp: Timestamp,
    data: EventData,
  },
  { title: 'Event' },
)

interface EventSource {
  id: string
  position: number
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

export function toEvent(row: EventSource): Static<typeof StreamedEvent> {
  const { id, position, type, user_id, data, created_at } = row
  return { id, position, type, timestamp: created_at.toISOString(), data: { user_id, ...data } }
}
