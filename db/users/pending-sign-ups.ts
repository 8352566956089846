/** Repeated sign-ups: their data for accounts that may be in use, and for those that were never verified or used. */
import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { executeStatement, type ParamOf, queryOne, queryOneOrThrow } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'
import {
  type IdentityValues,
  identityValues,
  type NewIdentity,
  upsertIdentityRow,
} from '../identities/identities.ts'
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

interface Replacement extends IdentityValues {
  address: string
  passwordHash: string | null
  /** A password set by an admin is kept in any case. */
  byAdmin: boolean
  /** JSON. */
  metadata: string
}

/** The account has a session, a factor, or an identity of another provider. */
function isInUse(eb: ExpressionBuilder<Database, 'users'>, value: ParamOf<Replacement>) {
  const uses = ['sessions', 'mfa_factors', 'webauthn_credentials'] as const
  return eb.or([
    ...uses.map((table) =>
      eb.exists(eb.selectFrom(table).select('user_id').where('user_id', '=', value('user_id'))),
    ),
    eb.exists(
      eb
        .selectFrom('identities')
        .select('user_id')
        .where('user_id', '=', value('user_id'))
        .where('provider', '<>', value('provider')),
    ),
  ])
}

const replaceRow = queryOne((db, value: ParamOf<Replacement>) => {
  const isOfAccount = sql<boolean>`user_id in (select account.id from account)`
  return db
    .with('account', (cte) =>
      cte
        .updateTable('users')
        .set((eb) => ({
          // The first sign-up for an account that was provisioned sets it. Otherwise it is kept only if it equals that of
          // the account, and of the pending sign-up, if any.
          encrypted_password: sql`case
            when ${value('byAdmin')}::boolean
              or (coalesce(encrypted_password, '') = '' and confirmation_sent_at is null)
              or (
              encrypted_password = ${value('passwordHash')}::text
              and not ${eb.exists(
                eb
                  .selectFrom('postern_pending_sign_ups')
                  .select('user_id')
                  .where('user_id', '=', value('user_id'))
                  .where('password_hash', 'is distinct from', value('passwordHash')),
              )})
            then ${value('passwordHash')}::text end`,
          raw_user_meta_data: value('metadata'),
          raw_app_meta_data: sql`${storedObject(sql`raw_app_meta_data`)} || jsonb_build_object(
            'provider', ${value('provider')}::text, 'providers', jsonb_build_array(${value('provider')}::text))`,
          updated_at: value('now'),
        }))
        .where('id', '=', value('user_id'))
        .where(sql<boolean>`${value('address')}::text in (email, phone)`)
        .where('email_confirmed_at', 'is', null)
        .where('phone_confirmed_at', 'is', null)
        .where('invited_at', 'is', null)
        .where((eb) => eb.not(isInUse(eb, value)))
        .returning('users.id'),
    )
    .with('pending', (cte) => cte.deleteFrom('postern_pending_sign_ups').where(isOfAccount))
    .with('devices', (cte) => cte.deleteFrom('postern_known_devices').where(isOfAccount))
    .with('flows', (cte) =>
      cte.deleteFrom('flow_state').where(isOfAccount).where('auth_code_issued_at', 'is not', null),
    )
    .with('identity', (cte) =>
      upsertIdentityRow(cte, value, sql<boolean>`exists (select from account)`).returning('id'),
    )
    .selectFrom('identity')
    .select([
      'id',
      sql<UserMetadata>`${value('metadata')}::jsonb`.as('metadata'),
      sql<UserMetadata>`${value('data')}::jsonb`.as('identityData'),
    ])
})

/**
 * Replaces password, metadata and identity of an account that was never verified, invited or used, and deletes its
 * pending flows. One statement, so that a repeated sign-up takes no longer than the first. The caller must hold the
 * lock of the user. Returns undefined, with nothing written, for every other account.
 */
export function replaceSignUp(
  trx: Trx,
  identity: NewIdentity,
  {
    address,
    passwordHash,
    metadata,
    byAdmin,
  }: PendingSignUpData & Pick<Replacement, 'address' | 'byAdmin'>,
  now: Date,
): Promise<(StoredData & { id: string }) | undefined> {
  const values = identityValues(identity, now)
  const signUp = { address, passwordHash, byAdmin, metadata: JSON.stringify(metadata) }
  return replaceRow(trx, { ...values, ...signUp })
}

const clearRow = executeStatement(
  (db, value: ParamOf<{ address: string; passwordHash: string | null }>) =>
    db
      .updateTable('users')
      .set({ encrypted_password: null })
      .where(sql<boolean>`(email = ${value('address')} or phone = ${value('address')})`)
      .where('email_confirmed_at', 'is', null)
      .where('phone_confirmed_at', 'is', null)
      .where('invited_at', 'is', null)
      .where('encrypted_password', 'is distinct from', value('passwordHash'))
      .where((eb) =>
        eb.not(
          eb.exists(eb.selectFrom('sessions').select('id').whereRef('user_id', '=', 'users.id')),
        ),
      ),
)

/** Removes a different password from an account that was never verified or used. */
export async function deleteOtherPassword(
  db: Db,
  address: string,
  passwordHash: string | null,
): Promise<void> {
  await clearRow(db, { address, passwordHash })
}
