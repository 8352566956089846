/** What sign-ups brought to accounts that may be in use. */
import { type ColumnType, sql } from 'kysely'

import { chosen, count } from './clean-up.ts'
import type { Db, Trx } from './database.ts'
import {
  type IdentityValues,
  identityValues,
  type NewIdentity,
  putIdentityRow,
} from './identities.ts'
import { preparedOneRow, preparedRow, type ValueOf } from './prepared-statement.ts'
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

/** Data of a person and of their identity. */
export interface StoredData {
  metadata: Metadata
  identityData: Metadata
}

const dataRow = preparedOneRow((db, value: ValueOf<{ metadata: string; identityData: string }>) =>
  db.selectNoFrom([
    sql<Metadata>`${value('metadata')}::jsonb`.as('metadata'),
    sql<Metadata>`${value('identityData')}::jsonb`.as('identityData'),
  ]),
)

/** The data in the order that the database keeps them in, so that an answer does not tell whether they were stored. */
export function asStored(db: Db, { metadata, identityData }: StoredData): Promise<StoredData> {
  const data = { metadata: JSON.stringify(metadata), identityData: JSON.stringify(identityData) }
  return dataRow(db, data)
}

interface Replacement extends IdentityValues {
  address: string
  passwordHash: string | null
  /** JSON. */
  metadata: string
}

const replaceRow = preparedRow((db, value: ValueOf<Replacement>) => {
  const isOfAccount = sql<boolean>`user_id in (select account.id from account)`
  const uses = ['sessions', 'mfa_factors', 'webauthn_credentials'] as const
  return db
    .with('account', (cte) =>
      cte
        .updateTable('users')
        .set({
          encrypted_password: value('passwordHash'),
          raw_user_meta_data: value('metadata'),
          raw_app_meta_data: sql`coalesce(raw_app_meta_data, '{}'::jsonb) || jsonb_build_object(
            'provider', ${value('provider')}::text, 'providers', jsonb_build_array(${value('provider')}::text))`,
          updated_at: value('now'),
        })
        .where('id', '=', value('user_id'))
        .where(sql<boolean>`${value('address')}::text in (email, phone)`)
        .where('email_confirmed_at', 'is', null)
        .where('phone_confirmed_at', 'is', null)
        .where('invited_at', 'is', null)
        .where((eb) =>
          eb.not(
            eb.or([
              ...uses.map((table) =>
                eb.exists(
                  eb.selectFrom(table).select('user_id').where('user_id', '=', value('user_id')),
                ),
              ),
              eb.exists(
                eb
                  .selectFrom('identities')
                  .select('user_id')
                  .where('user_id', '=', value('user_id'))
                  .where('provider', '<>', value('provider')),
              ),
            ]),
          ),
        )
        .returning('users.id'),
    )
    .with('pending', (cte) => cte.deleteFrom('postern_pending_sign_ups').where(isOfAccount))
    .with('devices', (cte) => cte.deleteFrom('postern_known_devices').where(isOfAccount))
    .with('flows', (cte) =>
      cte.deleteFrom('flow_state').where(isOfAccount).where('auth_code_issued_at', 'is not', null),
    )
    .with('identity', (cte) =>
      putIdentityRow(cte, value, sql<boolean>`exists (select from account)`).returning('id'),
    )
    .selectFrom('identity')
    .select([
      'id',
      sql<Metadata>`${value('metadata')}::jsonb`.as('metadata'),
      sql<Metadata>`${value('data')}::jsonb`.as('identityData'),
    ])
})

/**
 * Password, metadata and identity of an account that nobody has proven, been invited to or been in become those of another
 * sign-up, and what was begun with it is over. One statement, so that signing up again takes no longer than the first
 * time. The caller holds the lock of the person. Undefined, and nothing is written, for every other account.
 */
export function replaceSignUp(
  trx: Trx,
  identity: NewIdentity,
  { address, passwordHash, metadata }: SignUpClaim & { address: string },
  now: Date,
): Promise<(StoredData & { id: string }) | undefined> {
  const values = identityValues(identity, now)
  return replaceRow(trx, { ...values, address, passwordHash, metadata: JSON.stringify(metadata) })
}

/**
 * Removes old ones of people who have proven who they are. As long as nobody has, the row says that somebody else had the
 * account before, whose password must not count with a link that is sent once more, however late.
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
  return count(db.deleteFrom('postern_pending_sign_ups').where('user_id', '=', chosen(old, limit)))
}
