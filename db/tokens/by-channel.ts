/** One-time tokens by channel, and the pending changes that depend on them. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { consumeOneTimeToken } from './one-time-tokens.ts'

/** Deletes the tokens sent to the user's emails, or to their phone numbers. */
export async function deleteTokensSentTo(
  db: Db,
  userId: string,
  channel: 'email' | 'phone',
): Promise<void> {
  const isSent =
    channel === 'email'
      ? sql<boolean>`relates_to like '%@%'`
      : sql<boolean>`relates_to not like '%@%'`
  await consumeOneTimeToken(db, (of) =>
    of.deleteFrom('one_time_tokens').where('user_id', '=', userId).where(isSent),
  )
}

/** Deletes a pending sign-up whose token was deleted: it cannot be verified any more. */
export async function deleteOrphanedSignUp(trx: Trx, userId: string): Promise<void> {
  await trx
    .deleteFrom('postern_pending_sign_ups')
    .where('user_id', '=', userId)
    .where('token_hash', 'not in', (eb) =>
      eb.selectFrom('one_time_tokens').select('token_hash').where('user_id', '=', userId),
    )
    .execute()
}
