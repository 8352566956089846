/** Where a person is signed in. */
import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from './database.ts'
import { type Impersonation, impersonatorOf } from './impersonations.ts'
import type { FactorJson } from './mfa.ts'
import { type KindAt, newerSession } from './newer-session.ts'
import type { SessionState, SessionsTable } from './sessions.ts'

const deviceColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.user_agent',
  'sessions.ip',
] as const

export type SessionRow = Pick<
  SessionState,
  'session_id' | 'session_created_at' | 'refreshed_at' | 'not_after' | 'aal'
> &
  Pick<SessionsTable, 'user_agent' | 'ip'> &
  Impersonation & { factors: Pick<FactorJson, 'status'>[] }

/**
 * The sessions of a person, last used first; nobody looks through more than a thousand. With a kind, those that another one
 * has taken the place of are left out.
 */
export function findSessions(
  db: Db,
  userId: string,
  kind: KindAt | undefined,
): Promise<SessionRow[]> {
  const all = db
    .selectFrom('sessions')
    .select(deviceColumns)
    .select((eb) => impersonatorOf(eb, sql<string>`sessions.id`).as('impersonated_by'))
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

/** The last one of its kind, or one that an admin opened in place of the person: that one is shown as long as it lives. */
function isCurrent(eb: ExpressionBuilder<Database, 'sessions'>, kind: KindAt) {
  return eb.or([
    eb.exists(impersonatorOf(eb, sql<string>`sessions.id`)),
    eb.not(eb.exists(newerSession(eb, (name) => sql`${kind[name]}`))),
  ])
}
