/** One session per person and kind: which of them was used last. */
import { type ExpressionBuilder, sql } from 'kysely'

import { chosen, count, inPages, maxPerRange, type Pages } from './clean-up.ts'
import type { Database, Db } from './database.ts'
import { impersonatorOf } from './impersonations.ts'
import { preparedRow, type ValueOf } from './prepared-statement.ts'

interface Kind {
  /** The kinds of sessions that count apart; a session of none of them counts as the first. */
  tags: readonly string[]
  /** Sessions opened at or before this have ended. */
  openedAfter: Date | null
}

export type KindAt = Kind & { now: Date }

/** refreshed_at has no zone and is UTC; created_at has one. */
export const lastUsed = sql<Date>`coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at)`

/** Another session of the person and of the same kind that was used later and has not ended. */
export function newerSession(eb: ExpressionBuilder<Database, 'sessions'>, value: ValueOf<KindAt>) {
  const kindOf = (table: 'sessions' | 'other') => {
    const tag = sql.ref(`${table}.tag`)
    return sql`case when ${tag} = any(${value('tags')}::text[]) then ${tag} else (${value('tags')}::text[])[1] end`
  }
  return eb
    .selectFrom('sessions as other')
    .select('other.id')
    .whereRef('other.user_id', '=', 'sessions.user_id')
    .whereRef('other.id', '<>', 'sessions.id')
    .where((where) => where.not(where.exists(impersonatorOf(where, sql<string>`other.id`))))
    .where(sql<boolean>`${kindOf('other')} is not distinct from ${kindOf('sessions')}`)
    .where(sql<boolean>`coalesce(other.not_after > ${value('now')}, true)`)
    .where(sql<boolean>`coalesce(other.created_at > ${value('openedAfter')}::timestamptz, true)`)
    .where(
      sql<boolean>`coalesce(other.refreshed_at at time zone 'utc', other.created_at) > ${lastUsed}`,
    )
}

const findWithNewer = preparedRow((db, value: ValueOf<KindAt & { sessionId: string }>) =>
  db
    .selectFrom('sessions')
    .select('sessions.id')
    .where('sessions.id', '=', value('sessionId'))
    .where((eb) => eb.exists(newerSession(eb, value))),
)

/** True when another session of the same kind was used later than this one. */
export async function hasNewerSession(
  db: Db,
  sessionId: string,
  { tags, openedAfter }: Kind,
  now: Date,
): Promise<boolean> {
  return (await findWithNewer(db, { sessionId, tags, openedAfter, now })) !== undefined
}

/**
 * Sessions that another one of the person has taken the place of, in a range of the table's pages: nobody can refresh
 * them any more.
 */
export function deleteSupersededSessions(
  db: Db,
  { tags, openedAfter }: Kind,
  { usedBefore, now }: { usedBefore: Date; now: Date },
  pages: Pages,
): Promise<number> {
  const values = { tags, openedAfter, now }
  const old = db
    .selectFrom('sessions')
    .select('sessions.id')
    .where(inPages('sessions', pages))
    .where(lastUsed, '<', usedBefore)
    .where((eb) => eb.not(eb.exists(impersonatorOf(eb, sql<string>`sessions.id`))))
    .where((eb) => eb.exists(newerSession(eb, (name) => sql`${values[name]}`)))
  return count(db.deleteFrom('sessions').where('id', '=', chosen(old, maxPerRange)))
}
