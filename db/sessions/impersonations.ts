/** Sessions created by an admin to act as a user. The admin is shown in session lists and in every token. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database } from '../core/database.ts'

type Selecting = Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>

/** A subquery for the impersonating admin of a session. */
export const selectImpersonator = (eb: Selecting, sessionId: RawBuilder<string>) =>
  eb
    .selectFrom('postern_impersonations')
    .select('postern_impersonations.impersonated_by')
    .where(sql<boolean>`postern_impersonations.session_id = ${sessionId}`)
