/** Webhooks and deliveries as the admin API returns them. */
import type { DeliveryRow } from '../../../db/events/history.ts'
import { type Delivery, toWebhook, type WebhookSource } from '../../../schemas/webhook.ts'
import { type SentEvent, toBody } from './message.ts'

/** The audit payload of a webhook. */
export function endpointTraits(row: WebhookSource) {
  const { url, description, events, state } = toWebhook(row)
  return { url, description, events, state }
}

/** The request and the response of a delivery. */
export function toDelivery(row: DeliveryRow, url: string): Delivery {
  const { id, position, type, state, attempts, answer } = row
  return {
    event_id: id,
    position,
    type,
    state,
    attempts,
    answer,
    first_attempt_at: toIsoTime(row.first_attempt_at),
    last_attempt_at: toIsoTime(row.last_attempt_at),
    next_attempt_at: state === 'waiting' ? toIsoTime(row.due_at) : null,
    delivered_at: toIsoTime(row.delivered_at),
    request: toStoredRequest(row, url),
  }
}

/** Without signatures, which differ between attempts. */
export function toStoredRequest(event: SentEvent, url: string): Delivery['request'] {
  const headers = { 'content-type': 'application/json', 'webhook-id': event.id }
  return { url, headers, body: toBody(event) }
}

const toIsoTime = (date: Date | null) => date?.toISOString() ?? null
