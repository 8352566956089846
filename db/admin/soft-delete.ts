/** Queries for admin changes of a user: uniqueness checks and soft deletion. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { deletePasskeys } from '../passkeys/credentials.ts'
import { deleteTokens } from '../tokens/one-time-tokens.ts'
import { othersWith } from '../users/identifier-owners.ts'

interface ReplacedAddresses {
  id?: string | undefined
  email?: string | null | undefined
  phone?: string | null | undefined
}

interface TakenAddresses {
  id: boolean
  email: boolean
  phone: boolean
}

/**
 * Returns which of these identifiers belong to a user other than `except`. Verified emails of identities count, those
 * of SSO identities do not.
 */
export async function findTaken(
  db: Db,
  { id, email, phone }: ReplacedAddresses,
  except: string | null,
): Promise<TakenAddresses> {
  const taken = await db
    .selectNoFrom((eb) => [
      eb
        .exists(
          eb
            .selectFrom('users')
            .select('users.id')
            .where('users.id', '=', id ?? null),
        )
        .as('id'),
      eb
        .exists(
          eb
            .selectFrom('users')
            .select('users.id')
            .where('users.is_sso_user', '=', false)
            .where(sql<boolean>`users.id is distinct from ${except}::uuid`)
            .where('users.phone', '=', phone ?? null),
        )
        .as('phone'),
      eb.exists(othersWith(db, email ?? '', except)).as('email'),
    ])
    .executeTakeFirstOrThrow()
  return { id: Boolean(taken.id), email: Boolean(taken.email), phone: Boolean(taken.phone) }
}

/**
 * Soft deletion: removes all personal data and credentials and keeps the row, so that references to its id stay valid.
 * Identifiers become hashes: they are free for another user and cannot be recovered.
 */
export async function softDeleteUser(trx: Trx, id: string, now: Date): Promise<void> {
  await trx
    .updateTable('users')
    .set({
      email: hashed('email'),
      phone: sql<string>`left(${hashed('phone')}, 15)`,
      email_change: hashed('email_change'),
      phone_change: sql<string>`left(${hashed('phone_change')}, 15)`,
      encrypted_password: null,
      raw_app_meta_data: '{}',
      raw_user_meta_data: '{}',
      deleted_at: now,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute()
  await trx
    .updateTable('identities')
    .set({
      provider_id: base64Url(sql`user_id::text || provider || ':' || provider_id`),
      identity_data: '{}',
      updated_at: now,
    })
    .where('user_id', '=', id)
    .execute()
  await deletePasskeys(trx, id)
  await deleteTokens(trx, id)
  for (const table of emptied) await trx.deleteFrom(table).where('user_id', '=', id).execute()
  await trx.updateTable('scim_users').set({ user_id: null }).where('user_id', '=', id).execute()
}

/** Columns whose rows a deletion of the user would delete as well. */
const emptied = [
  'mfa_factors',
  'oauth_consents',
  'postern_admins',
  'postern_autoconfirmed_addresses',
  'postern_deactivations',
  'postern_known_devices',
  'postern_new_sign_in_methods',
  'postern_organization_members',
  'postern_pending_sign_ups',
  'postern_prepared_accounts',
  'postern_saml_logins',
  'postern_sign_in_devices',
  'postern_usernames',
] as const

const hashed = (column: string) => base64Url(sql`id::text || coalesce(${sql.ref(column)}, '')`)

/** Unpadded base64url of the SHA-256 of a text. */
const base64Url = (text: ReturnType<typeof sql>) =>
  sql<string>`translate(encode(sha256(convert_to(${text}, 'UTF8')), 'base64'), '+/=', '-_')`
