/** Lists the sessions of a user. */
import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from '../core/database.ts'
import type { FactorJson } from '../tables/factors.ts'
import type { Impersonation, SessionsTable } from '../tables/sessions.ts'
import { selectImpersonator } from './impersonations.ts'
import type { SessionState } from './sessions.ts'
import { type KindAt, supersedingSession } from './supersede.ts'

const deviceColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.user_agent',
  'sessions.ip',
  'sessions.oauth_client_id',
] as const

export type SessionRow = Pick<
  SessionState,
  'session_id' | 'session_created_at' | 'refreshed_at' | 'not_after' | 'aal' | 'oauth_client_id'
> &
  Pick<SessionsTable, 'user_agent' | 'ip'> &
  Impersonation & { factors: Pick<FactorJson, 'status'>[] }

/**
 * Returns the sessions of a user, last used first, at most a thousand. With `kind`, superseded sessions are left out.
 */
export function findSessions(
  db: Db,
  userId: string,
  kind: KindAt | undefined,
): Promise<SessionRow[]> {
  const all = db
    .selectFrom('sessions')
    .select(deviceColumns)
    .select((eb) => selectImpersonator(eb, sql<string>`sessions.id`).as('impersonated_by'))
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom('mfa_factors')
          .select('mfa_factors.status')
          .whereRef('mfa_factors.user_id', '=', 'sessions.user_id'),
      ).as('factors'),
    )
    .where('user_id', '=', userId)
    .orderBy(sql`coalesce(refreshed_at at time zone 'utc', created_at)`, 'desc')
    .orderBy('id')
    .limit(1000)
  return (kind ? all.where((eb) => isCurrent(eb, kind)) : all).execute()
}

/** The last used session of its kind, or an impersonated one, which is listed until it ends. */
function isCurrent(eb: ExpressionBuilder<Database, 'sessions'>, kind: KindAt) {
  return eb.or([
    eb.exists(selectImpersonator(eb, sql<string>`sessions.id`)),
    eb('sessions.oauth_client_id', 'is not', null),
    eb.not(eb.exists(supersedingSession(eb, (name) => sql`${kind[name]}`))),
  ])
}
