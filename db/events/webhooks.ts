/** Webhook endpoints, from the configuration and from the admin API. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'
import type { WebhooksTable } from '../tables/messages.ts'
export type WebhookRow = Selectable<WebhooksTable>

type NewWebhookRow = Pick<
  WebhookRow,
  'id' | 'source' | 'url' | 'description' | 'events' | 'secrets'
>

export function listWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom('postern_webhooks').selectAll().orderBy('created_at').orderBy('id').execute()
}

export function findWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return db.selectFrom('postern_webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the row, locked until the transaction ends. */
export function lockWebhook(trx: Trx, id: string): Promise<WebhookRow | undefined> {
  return trx
    .selectFrom('postern_webhooks')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export function insertWebhook(db: Db, webhook: NewWebhookRow, now: Date): Promise<WebhookRow> {
  return db
    .insertInto('postern_webhooks')
    .values({ ...webhook, state: 'active', created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

type WebhookRowChange = Partial<
  Pick<WebhookRow, 'url' | 'description' | 'events' | 'secrets' | 'state' | 'reason'>
>

/** Resets the failures, so that the next attempt is made immediately. */
export function updateWebhook(
  db: Db,
  id: string,
  change: WebhookRowChange,
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

/** Locks all webhooks of the configuration in one order until the transaction ends. */
export async function lockEnvironmentWebhooks(trx: Trx): Promise<void> {
  await trx
    .selectFrom('postern_webhooks')
    .select('id')
    .where('source', '=', 'environment')
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** Creates or updates a webhook of the configuration. */
export async function upsertConfiguredWebhook(
  db: Db,
  webhook: Omit<NewWebhookRow, 'source' | 'secrets'>,
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

/** Deletes webhooks that are no longer in the configuration, with their deliveries. */
export async function deleteOtherEnvironmentWebhooks(db: Db, ids: readonly string[]) {
  await db
    .deleteFrom('postern_webhooks')
    .where('source', '=', 'environment')
    .where(sql<boolean>`id <> all(${ids}::uuid[])`)
    .execute()
}

const recordFailure = executeStatement((db, value: ParamOf<{ id: string; retryAt: Date }>) =>
  db
    .updateTable('postern_webhooks')
    .set({
      failures: sql`failures + 1`,
      retry_at: sql`greatest(retry_at, ${value('retryAt')}::timestamptz)`,
    })
    .where('id', '=', value('id')),
)

/** Records a failed batch: nothing is sent to the endpoint until `retryAt`. */
export async function recordWebhookFailure(db: Db, id: string, retryAt: Date): Promise<void> {
  await recordFailure(db, { id, retryAt })
}

/** Resets the failures after a success, while they were too few to count as an outage. */
export async function clearWebhookFailures(db: Db, id: string): Promise<void> {
  await db
    .updateTable('postern_webhooks')
    .set({ failures: 0, retry_at: null })
    .where('id', '=', id)
    .execute()
}

/** Ends an outage: makes all waiting deliveries due. Locks rows in the order of recordAttempts. */
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
    .with('locked', (eb) =>
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
    .from('locked')
    .set({ due_at: now })
    .whereRef('delivery.webhook_id', '=', 'locked.webhook_id')
    .whereRef('delivery.position', '=', 'locked.position')
    .execute()
}

/** Pauses a webhook that responded with 410 Gone. */
export async function pauseWebhook(db: Db, id: string, reason: string, now: Date): Promise<void> {
  await db
    .updateTable('postern_webhooks')
    .set({ state: 'paused', reason, updated_at: now })
    .where('id', '=', id)
    .execute()
}
