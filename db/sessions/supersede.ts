/** The single-session rule: which session of a user and kind was used last. */
import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { count, inPages, maxPerRange, type PagedQuery, whereChosen } from '../core/paging.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import { selectImpersonator } from './impersonations.ts'

interface Kind {
  /** Tags that separate sessions for the rule; a session without one of them counts under the first. */
  tags: readonly string[]
  /** Sessions created at or before this have ended. */
  openedAfter: Date | null
}

export type KindAt = Kind & { now: Date }

/** refreshed_at has no time zone and is UTC; created_at has one. */
export const lastUsed = sql<Date>`coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at)`

/**
 * A subquery for another session of the user and kind that was used later and has not ended. Impersonated sessions
 * supersede none, and are superseded by none.
 */
export function supersedingSession(
  eb: ExpressionBuilder<Database, 'sessions'>,
  value: ParamOf<KindAt>,
) {
  const selectTag = (table: 'sessions' | 'other') => {
    const tag = sql.ref(`${table}.tag`)
    return sql`case when ${tag} = any(${value('tags')}::text[]) then ${tag} else (${value('tags')}::text[])[1] end`
  }
  return eb
    .selectFrom('sessions as other')
    .select('other.id')
    .whereRef('other.user_id', '=', 'sessions.user_id')
    .whereRef('other.id', '<>', 'sessions.id')
    .where((where) => where.not(where.exists(selectImpersonator(where, sql<string>`other.id`))))
    .where((where) => where.not(where.exists(selectImpersonator(where, sql<string>`sessions.id`))))
    .where('other.oauth_client_id', 'is', null)
    .where(sql<boolean>`${selectTag('other')} is not distinct from ${selectTag('sessions')}`)
    .where(sql<boolean>`coalesce(other.not_after > ${value('now')}, true)`)
    .where(sql<boolean>`coalesce(other.created_at > ${value('openedAfter')}::timestamptz, true)`)
    .where(
      sql<boolean>`coalesce(other.refreshed_at at time zone 'utc', other.created_at) > ${lastUsed}`,
    )
}

const findWithNewer = queryOne((db, value: ParamOf<KindAt & { sessionId: string }>) =>
  db
    .selectFrom('sessions')
    .select('sessions.id')
    .where('sessions.id', '=', value('sessionId'))
    .where((eb) => eb.exists(supersedingSession(eb, value))),
)

/** True when another session of the same kind was used later. */
export async function hasNewerSession(
  db: Db,
  sessionId: string,
  { tags, openedAfter }: Kind,
  now: Date,
): Promise<boolean> {
  return (await findWithNewer(db, { sessionId, tags, openedAfter, now })) !== undefined
}

/** Deletes superseded sessions, in a range of table pages. They cannot be refreshed any more. */
export function deleteSupersededSessions(
  db: Db,
  { tags, openedAfter }: Kind,
  { usedBefore, now }: { usedBefore: Date; now: Date },
  pages: PagedQuery,
): Promise<number> {
  const values = { tags, openedAfter, now }
  const old = db
    .selectFrom('sessions')
    .select('sessions.id')
    .where(inPages('sessions', pages))
    .where(lastUsed, '<', usedBefore)
    .where('sessions.oauth_client_id', 'is', null)
    .where((eb) => eb.exists(supersedingSession(eb, (name) => sql`${values[name]}`)))
  return count(db.deleteFrom('sessions').where('id', '=', whereChosen(old, maxPerRange)))
}
