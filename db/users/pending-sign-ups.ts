/** Data of repeated sign-ups for accounts that may be in use. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { type ParamOf, queryOneOrThrow } from '../core/statement.ts'
import type { UserMetadata } from '../tables/users.ts'

/** The data that the sign-up sets after its verification. */
export interface PendingSignUpData {
  passwordHash: string | null
  metadata: UserMetadata
}

interface PendingSignUp extends PendingSignUpData {
  tokenHash: string
}

/** Binds the data to the user's current confirmation token and replaces an earlier sign-up. */
export async function upsertPendingSignUp(
  trx: Trx,
  userId: string,
  { passwordHash, metadata, byAdmin }: PendingSignUpData & { byAdmin: boolean },
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
        // With two pending sign-ups, the password is kept only if it is the same in both.
        ...(!byAdmin && {
          password_hash: sql<string | null>`case
            when postern_pending_sign_ups.password_hash = excluded.password_hash
            then excluded.password_hash end`,
        }),
      })),
    )
    .execute()
}

/** Returns and deletes the pending sign-up; undefined when there is none. */
export async function consumePendingSignUp(
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

/** Metadata of a user and of their identity. */
export interface StoredData {
  metadata: UserMetadata
  identityData: UserMetadata
}

const dataRow = queryOneOrThrow((db, value: ParamOf<{ metadata: string; identityData: string }>) =>
  db.selectNoFrom([
    sql<UserMetadata>`${value('metadata')}::jsonb`.as('metadata'),
    sql<UserMetadata>`${value('identityData')}::jsonb`.as('identityData'),
  ]),
)

/** Returns the data with the key order of jsonb, so that a response does not reveal whether they were stored. */
export function asStored(db: Db, { metadata, identityData }: StoredData): Promise<StoredData> {
  const data = { metadata: JSON.stringify(metadata), identityData: JSON.stringify(identityData) }
  return dataRow(db, data)
}

/**
 * Deletes old rows of verified users. For an unverified account the row records an earlier sign-up of another user,
 * whose password must not become valid with a later link.
 */
export function deleteOldPendingSignUps(db: Db, madeBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_pending_sign_ups')
    .select('user_id')
    .where('created_at', '<', madeBefore)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .select('id')
          .whereRef('users.id', '=', 'postern_pending_sign_ups.user_id')
          .where('confirmed_at', 'is not', null),
      ),
    )
    .orderBy('created_at')
  return count(
    db.deleteFrom('postern_pending_sign_ups').where('user_id', '=', whereChosen(old, limit)),
  )
}
