/** Every event type of webhooks and of GET /admin/events, with the shape of its data. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

import { organizationEventKinds } from './organizations/events.ts'
import { actingFields } from './values/acting.ts'
import { nullable } from './values/choices.ts'
import { Timestamp } from './values/timestamp.ts'

const Id = Type.String({ format: 'uuid' })
const Text = Type.String()

/** The user after the event. Fields may be added, none is removed. */
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
  /** Adds the user to the data. */
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
const provider = {
  provider: Type.String({ description: '`custom:` and a name, or `sso:` and a UUID' }),
}
const client = { client_id: Text }
const user = { withUser: true }

export const eventKinds = {
  'user.created': kind('User created', {}, user),
  'user.updated': kind('User record or metadata changed', {}, user),
  'user.invited': kind('User invited by an admin', {}, user),
  'user.banned': kind('User banned by an admin', { banned_until: Timestamp }, user),
  'user.unbanned': kind('Ban lifted by an admin', {}, user),
  'user.deleted': kind('User deleted; all sessions revoked', {
    soft: Type.Boolean({ description: 'True when the row was kept without personal data' }),
  }),
  'user.signed_in': kind('Session created', {
    ...session,
    ...device,
    method: Text,
    aal: Text,
  }),
  'user.signed_out': kind('User signed out; each revoked session has an event of its own', {}),
  'user.impersonated': kind('Session created by an admin to act as the user', {}),
  'session.revoked': kind('Session revoked before it expired', session),
  'refresh_token.reuse_detected': kind('Refresh token reuse detected; session revoked', session),
  'password.changed': kind('Password set or changed', {}),
  'email.confirmed': kind('Email address confirmed', { email: Text }),
  'email.changed': kind('Email address changed', address),
  'phone.confirmed': kind('Phone number confirmed', { phone: Text }),
  'phone.changed': kind('Phone number changed', address),
  'identity.linked': kind('Identity linked', identity),
  'identity.unlinked': kind('Identity unlinked', identity),
  'factor.enrolled': kind('Factor verified for the first time', {
    factor_id: Id,
    factor_type: Text,
  }),
  'factor.unenrolled': kind('Verified factor deleted', { factor_id: Id, factor_type: Text }),
  'passkey.created': kind('Passkey registered', { passkey_id: Id }),
  'passkey.deleted': kind('Passkey deleted', { passkey_id: Id }),
  'recovery_code.used': kind('Recovery code consumed instead of a second factor', {
    remaining: Type.Integer(),
  }),
  'oauth.client_created': kind(
    'OAuth client created by an admin or by dynamic registration',
    client,
  ),
  'oauth.client_updated': kind('OAuth client changed, or its secret regenerated', client),
  'oauth.client_deleted': kind('OAuth client deleted; its sessions revoked', client),
  'oauth.consent_granted': kind('Scopes granted to an OAuth client', {
    ...client,
    scopes: Text,
  }),
  'oauth.consent_revoked': kind('Grant of an OAuth client revoked', client),
  'email.dead_lettered': kind('Email moved to the dead letters', {
    message_id: Id,
    kind: Text,
    reason: Text,
  }),
  'signing_key.rotated': kind('Signing key created and in use', { kid: Text }),
  'signing_key.imported': kind('Signing key imported', { kid: Text }),
  'signing_key.revoked': kind('Signing key revoked', { kid: Text }),
  'admin.added': kind('User made an admin', { role: Text }),
  'admin.changed': kind('Role of an admin changed', { role: Text }),
  'admin.removed': kind('Admin removed', {}),
  'provider.created': kind('External provider created by an admin', provider),
  'provider.updated': kind('External provider changed by an admin', provider),
  'provider.deleted': kind('External provider deleted by an admin', provider),
  ...organizationEventKinds,
} as const

export type EventType = keyof typeof eventKinds
export type EventPayload<T extends EventType> = Static<(typeof eventKinds)[T]['facts']>

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(eventKinds, name)
}

export const eventTypes: EventType[] = Object.keys(eventKinds).filter(isEventType)

/** `user_id` is null for an event that concerns no user. */
const EventData = Type.Object(
  { user_id: nullable(Id), user: Type.Optional(EventUser) },
  { additionalProperties: true },
)

/** The body of a webhook (Standard Webhooks). */
export const WebhookBody = Type.Object(
  { type: Text, timestamp: Timestamp, data: EventData },
  { title: 'WebhookBody' },
)

/** The body schema of one event type, for the OpenAPI document. */
export function webhookBodySchema(type: EventType) {
  const { description, facts, withUser } = eventKinds[type]
  const data = {
    user_id: nullable(Id),
    ...actingFields,
    ...facts.properties,
    ...(withUser && { user: EventUser }),
  }
  return Type.Object(
    { type: Type.Literal(type), timestamp: Timestamp, data: Type.Object(data) },
    { description },
  )
}

/** The body of a test delivery. It is not part of the event stream. */
export const TestBody = Type.Object(
  {
    type: Type.Literal('webhook.test'),
    timestamp: Timestamp,
    data: Type.Object({ user_id: nullable(Id), webhook_id: Id }),
  },
  { description: 'Test delivery requested by an admin' },
)

/** An event with its position in the stream. */
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
