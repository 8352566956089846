/** Webhooks in admin requests and responses. */
import { type Static, Type } from '@sinclair/typebox'

import { eventTypes, WebhookBody } from './events.ts'
import { nullable, StringEnum } from './values/choices.ts'
import { Timestamp } from './values/timestamp.ts'

/** 24 to 64 bytes as base64 (Standard Webhooks), with or without the version prefix. */
export const webhookSecret = /^(?:v1,)?whsec_[A-Za-z0-9+/]{32,86}={0,2}$/

const NullableTimestamp = nullable(Timestamp)

const Url = Type.String({ maxLength: 2048, description: 'Events are sent to this URL with POST' })
const Description = Type.String({ maxLength: 255 })
const Events = Type.Array(StringEnum(eventTypes), {
  maxItems: eventTypes.length,
  description: 'The event types to send; all when empty',
})
const State = StringEnum(['active', 'paused'], {
  description: 'Events for a paused webhook are queued',
})

export const Webhook = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    source: StringEnum(['environment', 'api'], { description: 'Where the webhook is configured' }),
    url: Url,
    description: Description,
    events: Events,
    state: State,
    reason: nullable(Type.String({ description: 'Why it was paused automatically' })),
    failures: Type.Integer({ description: 'Consecutive batches without a success' }),
    retry_at: nullable(
      Type.String({ format: 'date-time', description: 'No delivery before this time' }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>

export const WebhookPath = Type.Object({ webhook_id: Type.String() })

export const WebhookSecret = Type.String({
  pattern: webhookSecret.source,
  description: '`whsec_` and 24 to 64 bytes as base64; a random one when absent',
})

/** The secret is returned once, after creation. */
export const WebhookWithSecret = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({ description: 'The signing secret; only shown now' }),
  },
  { title: 'WebhookWithSecret' },
)

export const NewWebhook = Type.Object({
  url: Url,
  description: Type.Optional(Description),
  events: Type.Optional(Events),
  secret: Type.Optional(WebhookSecret),
})
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookChange = Type.Object({
  url: Type.Optional(Url),
  description: Type.Optional(Description),
  events: Type.Optional(Events),
  state: Type.Optional(State),
})
export type WebhookChange = Static<typeof WebhookChange>

export const DeliveryResponse = Type.Object({
  status: nullable(Type.Integer()),
  body: Type.String({ description: 'The first 1024 characters' }),
  error: nullable(Type.String({ description: 'Why there was no response' })),
  duration_ms: Type.Integer(),
})

/** Without the signature, which is bound to its time. */
export const DeliveryRequest = Type.Object({
  url: Type.String(),
  headers: Type.Object({ 'content-type': Type.String(), 'webhook-id': Type.String() }),
  body: WebhookBody,
})

export const Delivery = Type.Object(
  {
    event_id: Type.String({ format: 'uuid' }),
    position: Type.Integer(),
    type: Type.String(),
    state: StringEnum(['waiting', 'delivered', 'dead']),
    attempts: Type.Integer(),
    first_attempt_at: NullableTimestamp,
    last_attempt_at: NullableTimestamp,
    next_attempt_at: NullableTimestamp,
    delivered_at: NullableTimestamp,
    request: DeliveryRequest,
    answer: nullable(DeliveryResponse),
  },
  { title: 'WebhookDelivery' },
)
export type Delivery = Static<typeof Delivery>

export interface WebhookSource
  extends Omit<Webhook, 'retry_at' | 'created_at' | 'updated_at' | 'events'> {
  events: string[]
  retry_at: Date | null
  created_at: Date
  updated_at: Date
}

export function toWebhook(row: WebhookSource): Webhook {
  const { id, source, url, description, state, reason, failures } = row
  return {
    id,
    source,
    url,
    description,
    state,
    reason,
    failures,
    events: eventTypes.filter((type) => row.events.includes(type)),
    retry_at: row.retry_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
