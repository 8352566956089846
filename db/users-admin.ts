/** What only admins do to a person's row. */
import { sql } from 'kysely'

import { othersWith } from './address-owners.ts'
import type { Db, Trx } from './database.ts'
import { deleteTokens } from './one-time-tokens.ts'
import { deleteRecoveryCodes } from './recovery-codes.ts'
import { deletePasskeys } from './webauthn-credentials.ts'

export interface Addresses {
  id?: string | undefined
  email?: string | null | undefined
  phone?: string | null | undefined
}

export interface TakenAddresses {
  id: boolean
  email: boolean
  phone: boolean
}

/** Which of these somebody other than `except` already has; an address that a provider verified counts, SSO's does not. */
export async function findTaken(
  db: Db,
  { id, email, phone }: Addresses,
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
 * Takes away everything that tells or proves who the person was and keeps the row, so that what refers to its id
 * still finds it. Addresses become hashes: they are free for somebody else and cannot be read back.
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
  await trx.deleteFrom('mfa_factors').where('user_id', '=', id).execute()
  await deletePasskeys(trx, id)
  await deleteRecoveryCodes(trx, id)
  await deleteTokens(trx, id)
}

const hashed = (column: string) => base64Url(sql`id::text || coalesce(${sql.ref(column)}, '')`)

/** Unpadded base64url of the SHA-256 of a text. */
const base64Url = (text: ReturnType<typeof sql>) =>
  sql<string>`translate(encode(sha256(convert_to(${text}, 'UTF8')), 'base64'), '+/=', '-_')`
