/** The conditions under which a session can be refreshed, as parts of the statement that does it. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database } from '../core/database.ts'
import type { ParamOf } from '../core/statement.ts'
import { isActiveMember, type OrganizationScope } from '../organizations/active.ts'
import { lastUsed } from './supersede.ts'

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
