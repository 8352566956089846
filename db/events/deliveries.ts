/** Leases webhook deliveries for an attempt, and stores the outcomes of a batch of attempts. */
import { type QueryCreator, type RawBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { executeStatement, type ParamOf, queryMany, queryOneOrThrow } from '../core/statement.ts'
import type { DeliveryState, StoredDeliveryResponse } from '../tables/messages.ts'

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
    .where('delivery.position', '=', sql<number>`any(array(${selectDueHeads(db, value)}))`)
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

/** The first waiting delivery of each user, if it is due and not leased. */
function selectDueHeads(db: QueryCreator<Database>, value: ParamOf<Claim>) {
  const now = value('now')
  return (
    db
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
  )
}

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

/** The outcome of an attempt. */
export interface Attempted {
  position: number
  /** Identifies the attempt: the outcome of an attempt that lost its lease is ignored. */
  attempts: number
  state: DeliveryState
  due_at: Date
  answer: StoredDeliveryResponse
}

interface Outcomes {
  webhookId: string
  /** JSON: an array of Attempted. */
  outcomes: string
  now: Date
}

/** The outcomes as a table; `json` is an array of Attempted. */
function readOutcomes(json: RawBuilder<string>) {
  return sql<{
    position: number
    attempts: number
    state: DeliveryState
    due_at: Date
    answer: string
  }>`jsonb_to_recordset(${json}::jsonb)`.as<'outcome'>(
    sql`outcome (position bigint, attempts integer, state text, due_at timestamptz, answer jsonb)`,
  )
}

/**
 * The outcomes whose attempt is still the last one, with their deliveries locked. Looks each up by key: a plan cached for
 * few deliveries would read all of the webhook.
 */
function lockAttempted(
  db: QueryCreator<Database & { kept: { id: string } }>,
  outcome: ReturnType<typeof readOutcomes>,
) {
  return db
    .selectFrom((of) =>
      of
        .selectFrom(['kept', outcome])
        .select(['kept.id as webhook_id', 'outcome.position', 'outcome.attempts'])
        .select(['outcome.state', 'outcome.due_at', 'outcome.answer'])
        .orderBy('outcome.position')
        .as('outcome'),
    )
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom('postern_webhook_deliveries as delivery')
          .select('delivery.position')
          .whereRef('delivery.webhook_id', '=', 'outcome.webhook_id')
          .whereRef('delivery.position', '=', 'outcome.position')
          .whereRef('delivery.attempts', '=', 'outcome.attempts')
          .forUpdate()
          .as('attempted'),
      (join) => join.onTrue(),
    )
    .select(['outcome.position', 'outcome.state'])
    .select(['outcome.due_at', 'outcome.answer'])
}

const recordRows = executeStatement((db, value: ParamOf<Outcomes>) => {
  const outcome = readOutcomes(value('outcomes'))
  return (
    db
      // Locks the webhook before its deliveries, as its deletion does, and deliveries in order, so that transactions
      // cannot deadlock.
      .with('kept', (eb) =>
        eb
          .selectFrom('postern_webhooks')
          .select('id')
          .where('id', '=', value('webhookId'))
          .forKeyShare(),
      )
      .with('locked', (eb) => lockAttempted(eb, outcome))
      .updateTable('postern_webhook_deliveries as delivery')
      .from('locked')
      .set((eb) => ({
        state: eb.ref('locked.state'),
        due_at: eb.ref('locked.due_at'),
        answer: eb.ref('locked.answer'),
        leased_until: null,
        delivered_at: sql<Date | null>`case when locked.state = 'delivered' then ${value('now')}::timestamptz end`,
      }))
      .where('delivery.webhook_id', '=', value('webhookId'))
      .where('delivery.position', '=', sql<number>`any(array(select position from locked))`)
      .whereRef('delivery.position', '=', 'locked.position')
  )
})

/** Stores the outcomes of a batch in one statement. */
export async function recordAttempts(
  db: Db,
  webhookId: string,
  outcomes: readonly Attempted[],
  now: Date,
): Promise<void> {
  await recordRows(db, { webhookId, outcomes: JSON.stringify(outcomes), now })
}
