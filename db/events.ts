/** The stream of events: each has a position, and positions become visible in order. */
import { type ColumnType, type Generated, sql } from 'kysely'

import { chosen, count } from './clean-up.ts'
import type { Db, Trx } from './database.ts'
import { preparedOneRow, preparedRow, type ValueOf } from './prepared-statement.ts'
import { nilUuid } from './users.ts'

export interface EventsTable {
  position: Generated<number>
  id: string
  type: string
  user_id: string | null
  data: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
}

export interface EventRow {
  position: number
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

const tryLock = preparedOneRow((db, value: ValueOf<{ name: string }>) =>
  db.selectNoFrom(
    sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${value('name')}::text, 0))`.as('held'),
  ),
)

/** True when this transaction alone gives positions in the installation of this name, until it ends. */
export async function holdStream(trx: Trx, name: string): Promise<boolean> {
  return (await tryLock(trx, { name: `events of ${name}` })).held
}

const placeRows = preparedRow((db, value: ValueOf<{ limit: number; now: Date }>) =>
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
    // One that is being removed is waited for, and gone then.
    .with('kept', (eb) =>
      eb.selectFrom('postern_webhooks').select(['id', 'events']).orderBy('id').forKeyShare(),
    )
    .with('addressed', (eb) =>
      eb
        .insertInto('postern_webhook_deliveries')
        .columns(['webhook_id', 'position', 'lane', 'state', 'due_at'])
        .expression((of) =>
          of
            .selectFrom(['placed', 'kept'])
            .select(['kept.id as webhook_id', 'placed.position'])
            .select([
              sql<string>`coalesce(placed.user_id, ${sql.lit(nilUuid)}::uuid)`.as('lane'),
              sql<'waiting'>`'waiting'`.as('state'),
              sql<Date>`${value('now')}::timestamptz`.as('due_at'),
            ])
            .where(sql<boolean>`(kept.events = '{}' or placed.type = any(kept.events))`),
        ),
    )
    .selectFrom('taken')
    .select((eb) => eb.fn.countAll<number>().as('count')),
)

/**
 * Gives the oldest events of the inbox their positions, and one delivery for each webhook that asked for them. Returns
 * how many there were. The caller holds the stream, and looked at nothing before it did.
 */
export async function placeEvents(trx: Trx, limit: number, now: Date): Promise<number> {
  return (await placeRows(trx, { limit, now }))?.count ?? 0
}

export interface EventQuery {
  /** Positions above this one. */
  after: number
  type: string | undefined
  userId: string | undefined
}

/** The next of the stream, oldest first; at most `limit`. */
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

/** Of the stream; what became of them at webhooks goes with `deleteOrphanDeliveries`. */
export function deleteOldEvents(db: Db, createdBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_events')
    .select('position')
    .where('created_at', '<', createdBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('postern_events').where('position', '=', chosen(old, limit)))
}

/** Of the inbox: nobody gives positions any more to what was there when events were switched off. */
export function deleteUnplacedEvents(db: Db, createdBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_event_inbox')
    .select('seq')
    .where('created_at', '<', createdBefore)
    .orderBy('seq')
  return count(db.deleteFrom('postern_event_inbox').where('seq', '=', chosen(old, limit)))
}
