/** Links to accounts of users that admins got instead of the users. */
import { sql } from 'kysely'

import type { Trx } from '../core/database.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { TokenType } from '../tables/users.ts'
import { maxFailedAttempts } from './expiry.ts'

/** After the token was created, which replaces that of the user and type. */
export async function setTokenMaker(
  trx: Trx,
  { userId, type, madeBy }: { userId: string; type: TokenType; madeBy: string },
): Promise<void> {
  await trx
    .updateTable('postern_one_time_tokens')
    .set({ made_by: madeBy })
    .where('token_id', '=', (eb) =>
      eb
        .selectFrom('one_time_tokens')
        .select('id')
        .where('user_id', '=', userId)
        .where('token_type', '=', type),
    )
    .execute()
}

const voidRows = executePipelined((db, value: ParamOf<{ userId: string }>) =>
  db
    .updateTable('postern_one_time_tokens')
    .set({ failed_attempts: sql.lit(maxFailedAttempts) })
    .where('made_by', '=', value('userId')),
)

/** Voids the unused ones of this admin. The rows stay, so that no user has to be locked. */
export async function voidTokensMadeBy(trx: Trx, userId: string): Promise<void> {
  await voidRows(trx, { userId })
}
