/** Where events are sent: endpoints of the environment and those that admins make. */
import { type ColumnType, type Generated, type Selectable, sql } from 'kysely'

import type { Db, Trx } from './database.ts'
import { preparedWrite, type ValueOf } from './prepared-statement.ts'

export type WebhookState = 'active' | 'paused'

export interface WebhooksTable {
  id: string
  source: 'environment' | 'api'
  url: string
  description: Generated<string>
  /** Types of events; all of them when empty. */
  events: ColumnType<string[], readonly string[], readonly string[]>
  /** Encrypted JSON; empty for an endpoint of the environment. */
  secrets: Generated<string>
  state: WebhookState
  /** Why it was paused, when nobody asked for it. */
  reason: string | null
  /** Rounds without a success, one after another. */
  failures: Generated<number>
  /** Nothing is sent there before this. */
  retry_at: Date | null
  created_at: Date
  updated_at: Date
}

export type WebhookRow = Selectable<WebhooksTable>

export type NewWebhook = Pick<
  WebhookRow,
  'id' | 'source' | 'url' | 'description' | 'events' | 'secrets'
>

export function listWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom('postern_webhooks').selectAll().orderBy('created_at').orderBy('id').execute()
}

export function findWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return db.selectFrom('postern_webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The row, held until the transaction ends. */
export function lockWebhook(trx: Trx, id: string): Promise<WebhookRow | undefined> {
  return trx
    .selectFrom('postern_webhooks')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export function insertWebhook(db: Db, webhook: NewWebhook, now: Date): Promise<WebhookRow> {
  return db
    .insertInto('postern_webhooks')
    .values({ ...webhook, state: 'active', created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export type WebhookChange = Partial<
  Pick<WebhookRow, 'url' | 'description' | 'events' | 'secrets' | 'state' | 'reason'>
>

/** An endpoint that is changed is tried at once. */
export function updateWebhook(
  db: Db,
  id: string,
  change: WebhookChange,
  now: Date,
): Promise<WebhookRow> {
  return db
    .updateTable('postern_webhooks')
    .set({ ...change, failures: 0, retry_at: null, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteWebhook(db: Db, id: string): Promise<void> {
  await db.deleteFrom('postern_webhooks').where('id', '=', id).execute()
}

/** All of the environment, held in one order until the transaction ends. */
export async function lockEnvironmentWebhooks(trx: Trx): Promise<void> {
  await trx
    .selectFrom('postern_webhooks')
    .select('id')
    .where('source', '=', 'environment')
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** Makes the endpoint of the environment, or gives it the settings that it has there now. */
export async function putEnvironmentWebhook(
  db: Db,
  webhook: Omit<NewWebhook, 'source' | 'secrets'>,
  now: Date,
): Promise<void> {
  const { description, events, url } = webhook
  await db
    .insertInto('postern_webhooks')
    .values({
      ...webhook,
      source: 'environment',
      state: 'active',
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ description, events, url, updated_at: now }),
    )
    .execute()
}

/** Those of the environment that are not in it any more, with what waited for them. */
export async function deleteOtherEnvironmentWebhooks(db: Db, ids: readonly string[]) {
  await db
    .deleteFrom('postern_webhooks')
    .where('source', '=', 'environment')
    .where(sql<boolean>`id <> all(${ids}::uuid[])`)
    .execute()
}

const recordFailure = preparedWrite((db, value: ValueOf<{ id: string; retryAt: Date }>) =>
  db
    .updateTable('postern_webhooks')
    .set({
      failures: sql`failures + 1`,
      retry_at: sql`greatest(retry_at, ${value('retryAt')}::timestamptz)`,
    })
    .where('id', '=', value('id')),
)

/** Nothing of a round was accepted: nothing is sent to the endpoint until `retryAt`. */
export async function recordWebhookFailure(db: Db, id: string, retryAt: Date): Promise<void> {
  await recordFailure(db, { id, retryAt })
}

/** It accepted something, after rounds too few to count as down. */
export async function clearWebhookFailures(db: Db, id: string): Promise<void> {
  await db
    .updateTable('postern_webhooks')
    .set({ failures: 0, retry_at: null })
    .where('id', '=', id)
    .execute()
}

/** It answers again: what has waited for its next attempt is due now. Taken in the order of recordAttempts. */
export async function resumeWebhook(db: Db, id: string, now: Date): Promise<void> {
  await db
    .with('woken', (eb) =>
      eb
        .updateTable('postern_webhooks')
        .set({ failures: 0, retry_at: null })
        .where('id', '=', id)
        .where('failures', '>', 0)
        .returning('id'),
    )
    .with('held', (eb) =>
      eb
        .selectFrom(['woken', 'postern_webhook_deliveries as waiting'])
        .select(['waiting.webhook_id', 'waiting.position'])
        .whereRef('waiting.webhook_id', '=', 'woken.id')
        .where('waiting.state', '=', 'waiting')
        .where('waiting.attempts', '>', 0)
        .where('waiting.due_at', '>', now)
        .orderBy('waiting.position')
        .forUpdate('waiting'),
    )
    .updateTable('postern_webhook_deliveries as delivery')
    .from('held')
    .set({ due_at: now })
    .whereRef('delivery.webhook_id', '=', 'held.webhook_id')
    .whereRef('delivery.position', '=', 'held.position')
    .execute()
}

/** The endpoint asked for no more (410 Gone). */
export async function pauseWebhook(db: Db, id: string, reason: string, now: Date): Promise<void> {
  await db
    .updateTable('postern_webhooks')
    .set({ state: 'paused', reason, updated_at: now })
    .where('id', '=', id)
    .execute()
}
