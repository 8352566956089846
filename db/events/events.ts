/** The event stream. Positions become visible in order. */
import { type Expression, type QueryCreator, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { type ParamOf, queryOne, queryOneOrThrow } from '../core/statement.ts'
import { nilUuid } from '../tables/users.ts'

interface EventRow {
  position: number
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

const tryLock = queryOneOrThrow((db, value: ParamOf<{ name: string }>) =>
  db.selectNoFrom(
    sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${value('name')}::text, 0))`.as('held'),
  ),
)

/** Tries to become the only transaction that assigns positions in this schema, until it ends. */
export async function tryLockEventStream(trx: Trx, name: string): Promise<boolean> {
  return (await tryLock(trx, { name: `events of ${name}` })).held
}

interface Placed {
  placed: { position: number; type: string; user_id: string | null }
  kept: { id: string; events: string[] }
}

/** A delivery of each event to each webhook that subscribes to it. */
function deliveriesInsert(db: QueryCreator<Database & Placed>, now: Expression<Date>) {
  return db
    .insertInto('postern_webhook_deliveries')
    .columns(['webhook_id', 'position', 'lane', 'state', 'due_at'])
    .expression((of) =>
      of
        .selectFrom(['placed', 'kept'])
        .select(['kept.id as webhook_id', 'placed.position'])
        .select([
          sql<string>`coalesce(placed.user_id, ${sql.lit(nilUuid)}::uuid)`.as('lane'),
          sql<'waiting'>`'waiting'`.as('state'),
          sql<Date>`${now}::timestamptz`.as('due_at'),
        ])
        .where(sql<boolean>`(kept.events = '{}' or placed.type = any(kept.events))`),
    )
}

const placeRows = queryOne((db, value: ParamOf<{ limit: number; now: Date }>) =>
  db
    .with('taken', (eb) =>
      eb
        .deleteFrom('postern_event_inbox')
        .where(
          'seq',
          '=',
          sql<number>`any(array(${eb.selectFrom('postern_event_inbox').select('seq').orderBy('seq').limit(value('limit'))}))`,
        )
        .returning(['seq', 'id', 'type', 'user_id', 'data', 'created_at']),
    )
    .with('placed', (eb) =>
      eb
        .insertInto('postern_events')
        .columns(['id', 'type', 'user_id', 'data', 'created_at'])
        .expression((of) =>
          of
            .selectFrom('taken')
            .select(['taken.id', 'taken.type', 'taken.user_id'])
            .select([sql<string>`taken.data`.as('data'), 'taken.created_at'])
            .orderBy('taken.seq'),
        )
        .returning(['position', 'type', 'user_id']),
    )
    // Waits for a concurrent deletion of the webhook, and skips it then.
    .with('kept', (eb) =>
      eb.selectFrom('postern_webhooks').select(['id', 'events']).orderBy('id').forKeyShare(),
    )
    .with('addressed', (eb) => deliveriesInsert(eb, value('now')))
    .selectFrom('taken')
    .select((eb) => eb.fn.countAll<number>().as('count')),
)

/**
 * Assigns positions to the oldest events of the outbox and creates a delivery for each subscribed webhook. Returns the
 * number of events. The caller must hold the stream lock and must not have read anything before it had it.
 */
export async function assignPositions(trx: Trx, limit: number, now: Date): Promise<number> {
  return (await placeRows(trx, { limit, now }))?.count ?? 0
}

interface EventQuery {
  /** Events after this position. */
  after: number
  type: string | undefined
  userId: string | undefined
}

/** Returns the next events, oldest first, at most `limit`. */
export function listEvents(db: Db, query: EventQuery, limit: number): Promise<EventRow[]> {
  const { after, type, userId } = query
  return db
    .selectFrom('postern_events')
    .select(['position', 'id', 'type', 'user_id', 'data', 'created_at'])
    .where('position', '>', after)
    .$if(type !== undefined, (qb) => qb.where('type', '=', type ?? ''))
    .$if(userId !== undefined, (qb) => qb.where('user_id', '=', userId ?? ''))
    .orderBy('position')
    .limit(limit)
    .execute()
}

/** Deletes old events. Their deliveries are deleted by `deleteOrphanDeliveries`. */
export function deleteOldEvents(db: Db, createdBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_events')
    .select('position')
    .where('created_at', '<', createdBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('postern_events').where('position', '=', whereChosen(old, limit)))
}

/** Deletes outbox rows that get no position because events were disabled. */
export function deleteUnpositionedEvents(
  db: Db,
  createdBefore: Date,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom('postern_event_inbox')
    .select('seq')
    .where('created_at', '<', createdBefore)
    .orderBy('seq')
  return count(db.deleteFrom('postern_event_inbox').where('seq', '=', whereChosen(old, limit)))
}
