/** What is written of a session's refresh token beside the refresh itself. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import { preparedWrite, type ValueOf } from './prepared-statement.ts'
import type { TokenSession } from './sessions.ts'

type Advanced = Pick<TokenSession, 'session_id' | 'refresh_token_counter'>

const stepBack = preparedWrite((db, value: ValueOf<Advanced>) =>
  db
    .updateTable('sessions')
    .set({ refresh_token_counter: sql`refresh_token_counter - 1` })
    .where('id', '=', value('session_id'))
    .where('refresh_token_counter', '=', value('refresh_token_counter'))
    .where('refresh_token_counter', '>', sql.lit(0)),
)

/** The counter is as it was before `advanceSession`, unless another refresh has gone on from there. */
export async function takeBackAdvance(db: Db, advanced: Advanced): Promise<void> {
  const { session_id, refresh_token_counter } = advanced
  await stepBack(db, { session_id, refresh_token_counter })
}

const sealStatement = preparedWrite(
  (db, value: ValueOf<{ sessionId: string; plain: string; sealed: string }>) =>
    db
      .updateTable('sessions')
      .set({ refresh_token_hmac_key: value('sealed') })
      .where('id', '=', value('sessionId'))
      .where('refresh_token_hmac_key', '=', value('plain')),
)

/** Encrypts a refresh-token key that was found in clear; another request may have done so already. */
export async function sealRefreshTokenKey(
  db: Db,
  sessionId: string,
  plain: string,
  sealed: string,
) {
  await sealStatement(db, { sessionId, plain, sealed })
}
