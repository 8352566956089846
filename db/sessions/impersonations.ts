/** Sessions created by an admin to act as a user. The admin is shown in session lists and in every token. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database, Trx } from '../core/database.ts'

type Selecting = Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>

/** A subquery for the impersonating admin of a session. */
export const selectImpersonator = (eb: Selecting, sessionId: RawBuilder<string>) =>
  eb
    .selectFrom('postern_impersonations')
    .select('postern_impersonations.impersonated_by')
    .where(sql<boolean>`postern_impersonations.session_id = ${sessionId}`)

/** Ends the sessions in which the admin acts as users. */
export async function deleteImpersonationsBy(trx: Trx, adminId: string): Promise<void> {
  const ids = trx
    .selectFrom('postern_impersonations')
    .select('session_id')
    .where('impersonated_by', '=', adminId)
  // An array: with a join, Postgres would read all sessions.
  await trx.deleteFrom('sessions').where('id', '=', sql<string>`any(array(${ids}))`).execute()
}
