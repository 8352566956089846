/** Lists, replays and deletes webhook deliveries. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import type { DeliveryState, StoredDeliveryResponse } from '../tables/messages.ts'
import { nilUuid } from '../tables/users.ts'

export interface DeliveryRow {
  position: number
  state: DeliveryState
  attempts: number
  due_at: Date
  first_attempt_at: Date | null
  last_attempt_at: Date | null
  delivered_at: Date | null
  answer: StoredDeliveryResponse | null
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  created_at: Date
}

interface DeliveryQuery {
  webhookId: string
  state: DeliveryState | undefined
  /** Deliveries before this position. */
  before: number
}

/** Newest first, with their events. */
export function listDeliveries(
  db: Db,
  { webhookId, state, before }: DeliveryQuery,
  limit: number,
): Promise<DeliveryRow[]> {
  return db
    .selectFrom('postern_webhook_deliveries as delivery')
    .innerJoin('postern_events as event', 'event.position', 'delivery.position')
    .select(['delivery.position', 'delivery.state', 'delivery.attempts', 'delivery.due_at'])
    .select(['delivery.first_attempt_at', 'delivery.last_attempt_at', 'delivery.delivered_at'])
    .select(['delivery.answer', 'event.id', 'event.type', 'event.user_id', 'event.data'])
    .select('event.created_at')
    .where('delivery.webhook_id', '=', webhookId)
    .where('delivery.position', '<', before)
    .$if(state !== undefined, (qb) => qb.where('delivery.state', '=', state ?? 'waiting'))
    .orderBy('delivery.position', 'desc')
    .limit(limit)
    .execute()
}

/** Selects the events to be sent again. */
interface Replay {
  webhookId: string
  /** Event ids. */
  events?: readonly string[] | undefined
  /** Events from this time on. */
  since?: Date | undefined
  until?: Date | undefined
  /** Events after this position. */
  after?: number | undefined
  /** Only failed deliveries. */
  dead: boolean
}

interface Replayed {
  /** Without those that were waiting already. */
  queued: number
  found: number
  /** The last of the found events; null when none was found. */
  lastPosition: number | null
}

/**
 * Makes the deliveries of events due again, those from before the webhook was created too: the oldest, at most `limit`.
 * The event ids stay the same, so that a receiver can detect duplicates.
 */
export function replayDeliveries(
  db: Db,
  replay: Replay,
  limit: number,
  now: Date,
): Promise<Replayed> {
  return db
    .with('found', (qb) => findEvents(qb, replay, limit, now))
    .with('queued', (qb) =>
      qb
        .insertInto('postern_webhook_deliveries')
        .columns(['webhook_id', 'position', 'lane', 'state', 'due_at'])
        .expression((of) => of.selectFrom('found').selectAll())
        .onConflict((conflict) =>
          conflict
            .columns(['webhook_id', 'position'])
            .doUpdateSet({ state: 'waiting', due_at: now, attempts: 0, first_attempt_at: null })
            .where('postern_webhook_deliveries.state', '<>', 'waiting'),
        )
        .returning('position'),
    )
    .selectFrom('found')
    .select((eb) => [
      eb.fn.countAll<number>().as('found'),
      eb.fn.max('found.position').as('lastPosition'),
      eb
        .selectFrom('queued')
        .select((of) => of.fn.countAll<number>().as('queued'))
        .$asScalar()
        .as('queued'),
    ])
    .executeTakeFirstOrThrow()
}

/** The oldest events that a replay selects, as rows of deliveries. */
function findEvents(
  qb: Pick<QueryCreator<Database>, 'selectFrom'>,
  { webhookId, events, since, until, after, dead }: Replay,
  limit: number,
  now: Date,
) {
  return qb
    .selectFrom('postern_events as event')
    .innerJoin('postern_webhooks as webhook', (join) =>
      join
        .on('webhook.id', '=', webhookId)
        .on(sql<boolean>`(webhook.events = '{}' or event.type = any(webhook.events))`),
    )
    .select(['webhook.id as webhook_id', 'event.position'])
    .select([
      sql<string>`coalesce(event.user_id, ${nilUuid}::uuid)`.as('lane'),
      sql<'waiting'>`'waiting'`.as('state'),
      sql<Date>`${now}::timestamptz`.as('due_at'),
    ])
    .$if(events !== undefined, (qb) => qb.where(sql<boolean>`event.id = any(${events}::uuid[])`))
    .$if(since !== undefined, (qb) => qb.where('event.created_at', '>=', since ?? now))
    .$if(until !== undefined, (qb) => qb.where('event.created_at', '<', until ?? now))
    .$if(after !== undefined, (qb) => qb.where('event.position', '>', after ?? 0))
    .$if(dead, (qb) =>
      qb.where((eb) =>
        eb.exists(
          eb
            .selectFrom('postern_webhook_deliveries as given_up')
            .select('given_up.position')
            .where('given_up.webhook_id', '=', webhookId)
            .whereRef('given_up.position', '=', 'event.position')
            .where('given_up.state', '=', 'dead'),
        ),
      ),
    )
    .orderBy('event.position')
    .limit(limit)
}

/** Deletes deliveries whose event was deleted: all before the first position of the stream. */
export function deleteOrphanDeliveries(db: Db, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_webhook_deliveries')
    .select(sql<string>`postern_webhook_deliveries.ctid`.as('ctid'))
    // By the primary key: those that are left would all be read otherwise.
    .where((eb) =>
      eb(
        'webhook_id',
        '=',
        sql<string>`any(array(${eb.selectFrom('postern_webhooks').select('id')}))`,
      ),
    )
    .where('position', '<', (eb) =>
      eb
        .selectFrom('postern_events')
        .select(sql<number>`coalesce(min(postern_events.position), 0)`.as('first')),
    )
  return count(
    db
      .deleteFrom('postern_webhook_deliveries')
      .where(sql<string>`ctid`, '=', whereChosen(old, limit)),
  )
}
