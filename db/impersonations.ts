/** Sessions that an admin opened in the place of a person: who it was is shown, and said in every token. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database } from './database.ts'

export interface ImpersonationsTable {
  session_id: string
  impersonated_by: string
}

export interface Impersonation {
  /** The admin who acts in place of the person in this session; null for a session of the person's own. */
  impersonated_by: string | null
}

type Selecting = Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>

/** A subquery for the session whose id this is. */
export const impersonatorOf = (eb: Selecting, sessionId: RawBuilder<string>) =>
  eb
    .selectFrom('postern_impersonations')
    .select('postern_impersonations.impersonated_by')
    .where(sql<boolean>`postern_impersonations.session_id = ${sessionId}`)
