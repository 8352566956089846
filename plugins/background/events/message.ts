/** The payload of an event as it is sent, and its signature (Standard Webhooks). */
import { randomBytes } from 'node:crypto'

import type { Static } from '@sinclair/typebox'

import type { WebhookBody } from '../../../schemas/events.ts'
import { signedHeaders } from '../../outgoing/hooks/signature.ts'

/** The event fields that every source provides. */
export interface SentEvent {
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

/** Returns the same bytes at every attempt. */
export function toMessage(event: SentEvent): Message {
  return { id: event.id, body: JSON.stringify(toBody(event)) }
}

export function toBody({ type, user_id, data, created_at }: SentEvent): Static<typeof WebhookBody> {
  return { type, timestamp: created_at.toISOString(), data: { user_id, ...data } }
}

export interface Message {
  /** Of the event: the same for every attempt, endpoint and replay. */
  id: string
  /** JSON. */
  body: string
}

/** In the form receivers configure: `whsec_` and 32 random bytes in base64. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The headers of one attempt. Every secret signs, so that a receiver may use either one during a rotation. */
export function signMessageHeaders({ id, body }: Message, secrets: readonly string[], now: Date) {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64'))
  return { 'content-type': 'application/json', ...signedHeaders(keys, { id, body, now }) }
}
