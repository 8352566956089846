/** What sign-ups brought to accounts that may be in use. */
import type { ColumnType } from 'kysely'

import type { Db, Trx } from './database.ts'
import type { Metadata } from './users.ts'

export interface PendingSignUpsTable {
  user_id: string
  /** Of the link or code that the sign-up was answered with. */
  token_hash: string
  password_hash: string | null
  user_metadata: ColumnType<Metadata, string, string>
  created_at: Date
}

/** What a sign-up sets once its address is proven. */
export interface SignUpClaim {
  passwordHash: string | null
  metadata: Metadata
}

export interface PendingSignUp extends SignUpClaim {
  tokenHash: string
}

/** Ties the claim to the confirmation token that the person has now, in place of an earlier claim. */
export async function putPendingSignUp(
  trx: Trx,
  userId: string,
  { passwordHash, metadata }: SignUpClaim,
  now: Date,
): Promise<void> {
  const claim = {
    password_hash: passwordHash,
    user_metadata: JSON.stringify(metadata),
    created_at: now,
  }
  await trx
    .insertInto('postern_pending_sign_ups')
    .values((eb) => ({
      ...claim,
      user_id: userId,
      token_hash: eb
        .selectFrom('one_time_tokens')
        .select('token_hash')
        .where('user_id', '=', userId)
        .where('token_type', '=', 'confirmation_token'),
    }))
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((eb) => ({
        ...claim,
        token_hash: eb.ref('excluded.token_hash'),
      })),
    )
    .execute()
}

/** Takes the claim out; undefined when none waits. */
export async function takePendingSignUp(
  trx: Trx,
  userId: string,
): Promise<PendingSignUp | undefined> {
  const row = await trx
    .deleteFrom('postern_pending_sign_ups')
    .where('user_id', '=', userId)
    .returning(['token_hash', 'password_hash', 'user_metadata'])
    .executeTakeFirst()
  if (!row) return undefined
  const { token_hash: tokenHash, password_hash: passwordHash, user_metadata: metadata } = row
  return { tokenHash, passwordHash, metadata }
}

/** Whether somebody has been in the account: is signed in, or has added a second factor or a passkey. */
export async function isInUse(db: Db, userId: string): Promise<boolean> {
  const { isUsed } = await db
    .selectNoFrom((eb) => {
      const has = (table: 'sessions' | 'mfa_factors' | 'webauthn_credentials') =>
        eb.exists(eb.selectFrom(table).select('user_id').where('user_id', '=', userId))
      const isUsed = eb.or([has('sessions'), has('mfa_factors'), has('webauthn_credentials')])
      return isUsed.as('isUsed')
    })
    .executeTakeFirstOrThrow()
  return Boolean(isUsed)
}
