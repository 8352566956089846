/** Exchanged auth codes by hash: reuse revokes the session that was issued (RFC 6749 §4.1.2). */
import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { ConsumedCodesTable } from '../tables/flows.ts'

const insertRow = executePipelined((db, value: ParamOf<ConsumedCodesTable>) =>
  db.insertInto('postern_consumed_codes').values({
    code_hash: value('code_hash'),
    session_id: value('session_id'),
    code_challenge: value('code_challenge'),
    code_challenge_method: value('code_challenge_method'),
    consumed_at: value('consumed_at'),
  }),
)

export async function insertConsumedCode(trx: Trx, row: ConsumedCodesTable): Promise<void> {
  await insertRow(trx, row)
}

/** Returns the consumed code and its session, or undefined when it was not exchanged or the session has ended. */
export function findConsumedCode(trx: Trx, codeHash: string) {
  return trx
    .selectFrom('postern_consumed_codes')
    .innerJoin('sessions', 'sessions.id', 'postern_consumed_codes.session_id')
    .select(['session_id', 'user_id', 'code_challenge', 'code_challenge_method'])
    .where('code_hash', '=', codeHash)
    .executeTakeFirst()
}

export function deleteOldConsumedCodes(
  db: Db,
  consumedBefore: Date,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom('postern_consumed_codes')
    .select('code_hash')
    .where('consumed_at', '<', consumedBefore)
    .orderBy('consumed_at')
  return count(
    db.deleteFrom('postern_consumed_codes').where('code_hash', '=', whereChosen(old, limit)),
  )
}
