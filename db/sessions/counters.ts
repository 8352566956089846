/** Changes of a session's refresh token state outside of a refresh. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'
import type { TokenSession } from './sessions.ts'

type Advanced = Pick<TokenSession, 'session_id' | 'refresh_token_counter'>

const stepBack = executeStatement((db, value: ParamOf<Advanced>) =>
  db
    .updateTable('sessions')
    .set({ refresh_token_counter: sql`refresh_token_counter - 1` })
    .where('id', '=', value('session_id'))
    .where('refresh_token_counter', '=', value('refresh_token_counter'))
    .where('refresh_token_counter', '>', sql.lit(0)),
)

/** Reverts `rotateCounterToken`, unless another refresh has happened since. */
export async function undoRotation(db: Db, advanced: Advanced): Promise<void> {
  const { session_id, refresh_token_counter } = advanced
  await stepBack(db, { session_id, refresh_token_counter })
}

const sealStatement = executeStatement(
  (db, value: ParamOf<{ sessionId: string; plain: string; sealed: string }>) =>
    db
      .updateTable('sessions')
      .set({ refresh_token_hmac_key: value('sealed') })
      .where('id', '=', value('sessionId'))
      .where('refresh_token_hmac_key', '=', value('plain')),
)

/** Stores an encrypted refresh token key if the column still has the plain one. */
export async function storeEncryptedRefreshKey(
  db: Db,
  sessionId: string,
  plain: string,
  sealed: string,
) {
  await sealStatement(db, { sessionId, plain, sealed })
}
