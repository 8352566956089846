/** What becomes of each event at each webhook, and what of it is claimed for an attempt. */
import { type ColumnType, type Generated, sql } from 'kysely'

import type { Db } from './database.ts'
import { preparedOneRow, preparedRows, type ValueOf } from './prepared-statement.ts'

export type DeliveryState = 'waiting' | 'delivered' | 'dead'

/** What an endpoint said to the last attempt; without a status it said nothing. */
export interface DeliveryAnswer {
  status: number | null
  /** The beginning of the body. */
  body: string
  /** Why there was no answer. */
  error: string | null
  duration_ms: number
}

export interface WebhookDeliveriesTable {
  webhook_id: string
  position: number
  /** The person whose events are kept in order. */
  lane: string
  state: DeliveryState
  attempts: Generated<number>
  /** The next attempt. */
  due_at: Date
  /** An attempt is under way until then at most. */
  leased_until: Date | null
  first_attempt_at: Date | null
  last_attempt_at: Date | null
  delivered_at: Date | null
  answer: ColumnType<DeliveryAnswer | null, string | null, string | null>
}

/** An event on its way to one webhook. */
export interface ClaimedDelivery {
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

const claimRows = preparedRows((db, value: ValueOf<Claim>) => {
  const now = value('now')
  // Of each person the first that waits, if it is due and at nobody's hands.
  const heads = db
    .selectFrom('postern_webhook_deliveries as due')
    .select('due.position')
    .where('due.webhook_id', '=', value('webhookId'))
    .where('due.state', '=', sql.lit('waiting'))
    .where('due.due_at', '<=', now)
    .where(sql<boolean>`coalesce(due.leased_until <= ${now}, true)`)
    // One look at an index for each candidate; `not exists` would be joined with all that waits.
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

/** At most `limit`, each of another person, and none whose earlier event waits. Nobody else gets them until the lease ends. */
export function claimDeliveries(db: Db, claim: Claim): Promise<ClaimedDelivery[]> {
  return claimRows(db, claim)
}

const findWork = preparedOneRow((db, value: ValueOf<{ now: Date }>) =>
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

/** Whether events wait for a position, and which webhooks have something to be sent. One round trip. */
export async function lookForWork(db: Db, now: Date): Promise<{ hasNew: boolean; due: string[] }> {
  const { hasNew, due } = await findWork(db, { now })
  return { hasNew: Boolean(hasNew), due }
}
