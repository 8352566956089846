/** The payload of an event as it is sent. */
import type { Static } from '@sinclair/typebox'

import type { WebhookBody } from '../../../schemas/events.ts'
import type { Message } from './signature.ts'

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
