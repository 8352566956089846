/** Tokens by address: pending changes of an email or phone number, and codes that an external service verifies. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import {
  consumeOneTimeToken,
  deleteTokens,
  type TokenRow,
  type TokenType,
  tokenColumns,
} from './one-time-tokens.ts'

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

/** Returns the last token for a number, live or not, by one_time_tokens_relates_to_hash_idx. */
export function findNewestToken(
  db: Db,
  type: TokenType,
  address: string,
): Promise<TokenRow | undefined> {
  return db
    .selectFrom('one_time_tokens')
    .select(tokenColumns)
    .where('relates_to', '=', address)
    .where('token_type', '=', type)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Consumes a token after an external verification; undefined when it was deleted or replaced concurrently. */
export function consumePhoneToken(
  trx: Trx,
  { id, token_hash }: TokenRow,
): Promise<TokenRow | undefined> {
  return consumeOneTimeToken(trx, (db) =>
    db.deleteFrom('one_time_tokens').where('id', '=', id).where('token_hash', '=', token_hash),
  )
}

/** Cancels a pending phone change. */
export async function dropPhoneChange(trx: Trx, userId: string): Promise<void> {
  await deleteTokens(trx, userId, ['phone_change_token'])
  await trx
    .updateTable('users')
    .set({ phone_change: '' })
    .where('id', '=', userId)
    .where('phone_change', '<>', '')
    .execute()
}

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
