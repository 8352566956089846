/** Pending email changes. */
import { sql } from 'kysely'

import type { Trx } from '../core/database.ts'
import { deleteTokens, type TokenType } from './one-time-tokens.ts'

/**
 * Cancels a pending email change that does not need the current address: of all users when the setting says so, or of a
 * user without an email. Not of an anonymous user, who has no other sign-in method.
 */
export async function cancelUnconfirmedEmailChange(
  trx: Trx,
  userId: string,
  { requiresCurrent }: { requiresCurrent: boolean },
): Promise<void> {
  const dropped = await trx
    .updateTable('users')
    .set({ email_change: '', email_change_confirm_status: 0 })
    .where('id', '=', userId)
    .where('email_change', '<>', '')
    .where('is_anonymous', '=', false)
    .$if(requiresCurrent, (query) => query.where(sql<boolean>`coalesce(email, '') = ''`))
    .returning('id')
    .executeTakeFirst()
  if (!dropped) return
  await deleteTokens(trx, userId, ['email_change_token_current', 'email_change_token_new'])
}

/** Whether other users have a pending change to this address. */
export async function isRequestedByOthers(
  trx: Trx,
  userId: string,
  address: string,
  type: TokenType,
): Promise<boolean> {
  const other = await trx
    .selectFrom('one_time_tokens')
    .select('id')
    .where('relates_to', '=', address)
    .where('token_type', '=', type)
    .where('user_id', '<>', userId)
    .executeTakeFirst()
  return other !== undefined
}
