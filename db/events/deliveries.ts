/** Leases webhook deliveries for an attempt. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { type ParamOf, queryMany, queryOneOrThrow } from '../core/statement.ts'

/** An event to be sent to one webhook. */
export interface LeasedDelivery {
  position: number
  attempts: number
  first_attempt_at: Date
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

interface Claim {
  webhookId: string
  limit: number
  leasedUntil: Date
  now: Date
}

const claimRows = queryMany((db, value: ParamOf<Claim>) => {
  const now = value('now')
  // The first waiting delivery of each user, if it is due and not leased.
  const heads = db
    .selectFrom('postern_webhook_deliveries as due')
    .select('due.position')
    .where('due.webhook_id', '=', value('webhookId'))
    .where('due.state', '=', sql.lit('waiting'))
    .where('due.due_at', '<=', now)
    .where(sql<boolean>`coalesce(due.leased_until <= ${now}, true)`)
    // One index look-up per candidate. `not exists` would become a join with all waiting deliveries.
    .where('due.position', '=', (eb) =>
      eb
        .selectFrom('postern_webhook_deliveries as earliest')
        .select((of) => of.fn.min('earliest.position').as('position'))
        .whereRef('earliest.webhook_id', '=', 'due.webhook_id')
        .whereRef('earliest.lane', '=', 'due.lane')
        .where('earliest.state', '=', sql.lit('waiting')),
    )
    .orderBy('due.position')
    .limit(value('limit'))
    .forUpdate()
    .skipLocked()
  return db
    .updateTable('postern_webhook_deliveries as delivery')
    .from('postern_events as event')
    .set({
      attempts: sql`delivery.attempts + 1`,
      leased_until: value('leasedUntil'),
      first_attempt_at: sql`coalesce(delivery.first_attempt_at, ${now})`,
      last_attempt_at: now,
    })
    .where('delivery.webhook_id', '=', value('webhookId'))
    .where('delivery.position', '=', sql<number>`any(array(${heads}))`)
    .whereRef('event.position', '=', 'delivery.position')
    .returning([
      'delivery.position',
      'delivery.attempts',
      sql<Date>`delivery.first_attempt_at`.as('first_attempt_at'),
      'event.id',
      'event.type',
      'event.user_id',
      'event.data',
      'event.created_at',
    ])
})

/**
 * Leases at most `limit` deliveries, each of another user, in the order of events within a user. They belong to the
 * caller until the lease ends.
 */
export function leaseDeliveries(db: Db, claim: Claim): Promise<LeasedDelivery[]> {
  return claimRows(db, claim)
}

const findWork = queryOneOrThrow((db, value: ParamOf<{ now: Date }>) =>
  db.selectNoFrom(({ exists, selectFrom }) => [
    exists(selectFrom('postern_event_inbox').select('seq')).as('hasNew'),
    sql<string[]>`array(${selectFrom('postern_webhooks as webhook')
      .select('webhook.id')
      .where('webhook.state', '=', sql.lit('active'))
      .where(sql<boolean>`coalesce(webhook.retry_at <= ${value('now')}, true)`)
      .where(({ exists }) =>
        exists(
          selectFrom('postern_webhook_deliveries as waiting')
            .select('waiting.position')
            .where(sql<boolean>`waiting.webhook_id = webhook.id`)
            .where('waiting.state', '=', sql.lit('waiting'))
            .where('waiting.due_at', '<=', value('now'))
            .where(sql<boolean>`coalesce(waiting.leased_until <= ${value('now')}, true)`),
        ),
      )})`.as('due'),
  ]),
)

/** Returns whether events wait for a position, and which webhooks have due deliveries. One round trip. */
export async function findDueDeliveries(
  db: Db,
  now: Date,
): Promise<{ hasNew: boolean; due: string[] }> {
  const { hasNew, due } = await findWork(db, { now })
  return { hasNew: Boolean(hasNew), due }
}
