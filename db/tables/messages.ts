/** The email outbox, and events with their webhooks. */
import type { ColumnType, Generated } from 'kysely'

/** The email outbox. */
export interface MailMessagesTable {
  id: string
  kind: string
  /** Recipient and variables, encrypted; empty after sending. */
  payload: string
  state: 'queued' | 'sending' | 'sent' | 'dead'
  attempts: number
  /** Why it failed or was deferred, without addresses. */
  reason: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  sent_at: Date | null
  /** The user it concerns; null for an email of an older version. */
  user_id: string | null
  /** The language of the email. */
  locale: string | null
  /** The result of the last attempt; null before the first. */
  outcome: SendResult | null
  /** The mail server's response to an accepted email, without addresses. */
  response: string | null
}

export type SendResult = 'sent' | 'temporary' | 'permanent' | 'ambiguous'

export interface EventOutboxTable {
  seq: Generated<number>
  id: string
  type: string
  user_id: string | null
  data: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
}

export interface EventsTable {
  position: Generated<number>
  id: string
  type: string
  user_id: string | null
  data: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
}

export interface WebhooksTable {
  id: string
  source: 'environment' | 'api'
  url: string
  description: Generated<string>
  /** Event types; empty subscribes to all. */
  events: ColumnType<string[], readonly string[], readonly string[]>
  /** Encrypted JSON; empty for a webhook of the configuration. */
  secrets: Generated<string>
  state: WebhookState
  /** Why it was paused automatically; null when an admin paused it. */
  reason: string | null
  /** Consecutive batches without a success. */
  failures: Generated<number>
  /** Nothing is sent before this time. */
  retry_at: Date | null
  created_at: Date
  updated_at: Date
}

type WebhookState = 'active' | 'paused'

export interface WebhookDeliveriesTable {
  webhook_id: string
  position: number
  /** The user whose events are delivered in order. */
  lane: string
  state: DeliveryState
  attempts: Generated<number>
  /** The time of the next attempt. */
  due_at: Date
  /** The lease of the current attempt ends then. */
  leased_until: Date | null
  first_attempt_at: Date | null
  last_attempt_at: Date | null
  delivered_at: Date | null
  answer: ColumnType<StoredDeliveryResponse | null, string | null, string | null>
}

/** The response to the last attempt; the status is null when none arrived. */
export interface StoredDeliveryResponse {
  status: number | null
  /** The beginning of the body. */
  body: string
  /** The connection error, when there was no response. */
  error: string | null
  duration_ms: number
}

export type DeliveryState = 'waiting' | 'delivered' | 'dead'
