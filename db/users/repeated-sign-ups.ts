/** Repeated sign-ups for accounts that were never verified or used. */
import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { executeStatement, type ParamOf, queryOne } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'
import {
  type IdentityValues,
  identityValues,
  type NewIdentity,
  upsertIdentityRow,
} from '../identities/identities.ts'
import type { UserMetadata } from '../tables/users.ts'
import type { PendingSignUpData, StoredData } from './pending-sign-ups.ts'

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
