/**
 * The conditions under which a session can be refreshed, as parts of the statement that does it. One of them is the
 * single-session rule: which session of a user and kind was used last.
 */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { count, inPages, maxPerRange, type PagedQuery, whereChosen } from '../core/paging.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import { isActiveMember, type OrganizationScope } from '../organizations/active.ts'
import { selectImpersonator } from './impersonations.ts'

export interface Refresh {
  sessionId: string
  /** The counter of the presented token, which must be that of the row. */
  counter: number
  userAgent: string | null
  ip: string | null
  /** Sessions created at or before this have reached AUTH_SESSIONS_TIMEBOX. */
  openedAfter: Date | null
  /** Sessions last used at or before this have reached AUTH_SESSIONS_INACTIVITY_TIMEOUT. */
  usedAfter: Date | null
  /** Sessions below aal2 created at or before this have reached AUTH_SESSIONS_ALLOW_LOW_AAL. */
  factorRequiredAfter: Date | null
  /** Reject when another session of the same kind was used later (AUTH_SESSIONS_SINGLE_PER_USER). */
  singlePerUser: boolean
  /** Tags that separate sessions for the single-session rule; a session without one of them counts under the first. */
  tags: readonly string[]
  /** Insert the audit entry in the same statement. */
  audited: boolean
  /** The OAuth client that the session must belong to; null for a session of no client. */
  clientId: string | null
  /** Undefined while organizations are off. */
  scope: OrganizationScope | undefined
}

export type RefreshValues = Refresh & { organizationId: string | null; now: Date }

/** What reads other tables is a part of the statement only where it applies: Postgres initializes unused plans too. */
export type RefreshPart = 'required_factor' | 'single_per_user' | 'organization'

export function listRefreshParts(refresh: Refresh): RefreshPart[] {
  // A client cannot verify a factor, and does not supersede sessions of the user.
  if (refresh.clientId !== null) return []
  return [
    ...(refresh.factorRequiredAfter ? ['required_factor' as const] : []),
    ...(refresh.singlePerUser ? ['single_per_user' as const] : []),
    ...(refresh.scope ? ['organization' as const] : []),
  ]
}

type Selecting = ExpressionBuilder<Database, 'sessions'>

/** The conditions on the session and its user. Those of settings that are off are null. */
export function isRefreshable(eb: Selecting, value: ParamOf<RefreshValues>) {
  const now = value('now')
  return eb.and([
    sql<boolean>`sessions.oauth_client_id is not distinct from ${value('clientId')}::uuid`,
    sql<boolean>`coalesce(sessions.not_after > ${now}, true)`,
    sql<boolean>`coalesce(sessions.created_at > ${value('openedAfter')}::timestamptz, true)`,
    sql<boolean>`coalesce(${lastUsed} > ${value('usedAfter')}::timestamptz, true)`,
    isOwnerLive(eb, now),
  ])
}

/** The session is recent or at aal2, or its user has no factor. */
export function hasRequiredFactor(eb: Selecting, value: ParamOf<RefreshValues>) {
  return eb.or([
    sql<boolean>`coalesce(sessions.created_at > ${value('factorRequiredAfter')}::timestamptz, true)`,
    sql<boolean>`coalesce(sessions.aal, 'aal1') > 'aal1'`,
    eb.not(eb.exists(verifiedFactor(eb))),
  ])
}

/** The user is an active member of the organization that the request names, if it names one. */
export function isMemberOfRequested(eb: Selecting, value: ParamOf<RefreshValues>) {
  const organizationId = value('organizationId')
  return eb.or([
    sql<boolean>`${organizationId}::uuid is null`,
    isActiveMember(eb, sql.ref('sessions.user_id'), organizationId),
  ])
}

/**
 * The session's user is neither banned nor deleted. A scalar comparison instead of `exists`: that would be planned as a
 * join, which for a small table reads all users and is cached.
 */
export function isOwnerLive(eb: ExpressionBuilder<Database, 'sessions'>, now: RawBuilder<Date>) {
  const isLive = sql<boolean>`users.deleted_at is null and coalesce(users.banned_until <= ${now}, true)`
  const owner = eb.selectFrom('users').whereRef('users.id', '=', 'sessions.user_id')
  return sql<boolean>`coalesce(${owner.select(isLive.as('is_live'))}, false)`
}

function verifiedFactor(eb: ExpressionBuilder<Database, 'sessions'>) {
  return eb
    .selectFrom('mfa_factors')
    .select('mfa_factors.id')
    .whereRef('mfa_factors.user_id', '=', 'sessions.user_id')
    .where('mfa_factors.status', '=', 'verified')
}

interface Kind {
  /** Tags that separate sessions for the rule; a session without one of them counts under the first. */
  tags: readonly string[]
  /** Sessions created at or before this have ended. */
  openedAfter: Date | null
}

export type KindAt = Kind & { now: Date }

/** refreshed_at has no time zone and is UTC; created_at has one. */
const lastUsed = sql<Date>`coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at)`

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
