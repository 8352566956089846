/** Passkeys, as GoTrue stores them. */
import { type Selectable, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type { WebauthnCredentialsTable } from '../tables/factors.ts'

const shownColumns = ['id', 'friendly_name', 'created_at', 'last_used_at'] as const

export type PasskeyRow = Pick<Selectable<WebauthnCredentialsTable>, (typeof shownColumns)[number]>

/** The passkeys of a user, oldest first. */
export function findPasskeys(db: Db, userId: string) {
  return db
    .selectFrom('webauthn_credentials')
    .select([...shownColumns, 'credential_id'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

const keyColumns = ['id', 'user_id', 'credential_id', 'public_key', 'backup_eligible'] as const

export type PasskeyCredential = Pick<
  Selectable<WebauthnCredentialsTable>,
  (typeof keyColumns)[number]
>

const findKey = queryOne((db, value: ParamOf<{ credentialId: Buffer }>) =>
  db
    .selectFrom('webauthn_credentials')
    .select(keyColumns)
    .where('credential_id', '=', value('credentialId')),
)

/** Returns the credential to verify an assertion with, and its user. */
export function findPasskeyCredential(
  db: Db,
  credentialId: Buffer,
): Promise<PasskeyCredential | undefined> {
  return findKey(db, { credentialId })
}

interface NewPasskey {
  user_id: string
  credential_id: Buffer
  public_key: Buffer
  attestation_type: string
  aaguid: string
  sign_count: number
  transports: string[]
  backup_eligible: boolean
  backed_up: boolean
  friendly_name: string
}

/** Fails with a unique violation when the credential is registered already. */
export function insertPasskey(db: Db, passkey: NewPasskey, now: Date): Promise<PasskeyRow> {
  const transports = JSON.stringify(passkey.transports)
  const times = { created_at: now, updated_at: now }
  return db
    .insertInto('webauthn_credentials')
    .values({ id: crypto.randomUUID(), ...passkey, transports, ...times })
    .returning(shownColumns)
    .executeTakeFirstOrThrow()
}

interface PasskeyUse {
  counter: number
  backedUp: boolean
}

type PasskeyAdvance = 'advanced' | 'counter_went_back' | 'gone'

const advance = queryOne((db, value: ParamOf<PasskeyUse & { id: string; now: Date }>) =>
  db
    .with('advanced', (eb) =>
      eb
        .updateTable('webauthn_credentials')
        .set({
          sign_count: value('counter'),
          backed_up: value('backedUp'),
          last_used_at: value('now'),
          updated_at: value('now'),
        })
        .where('id', '=', value('id'))
        .where(
          sql<boolean>`(sign_count < ${value('counter')}::bigint or (sign_count = 0 and ${value('counter')}::bigint = 0))`,
        )
        .returning('id'),
    )
    .selectFrom('webauthn_credentials')
    .leftJoin('advanced', 'advanced.id', 'webauthn_credentials.id')
    .select('advanced.id')
    .where('webauthn_credentials.id', '=', value('id')),
)

/**
 * Records a use. Returns false when the signature counter has not increased (WebAuthn Level 3 §6.1.1; a counter that
 * stays zero is unsupported). One statement, so that of concurrent responses with one counter a single one is accepted.
 */
export async function updatePasskeySignCount(
  db: Db,
  id: string,
  { counter, backedUp }: PasskeyUse,
  now: Date,
): Promise<PasskeyAdvance> {
  const row = await advance(db, { id, counter, backedUp, now })
  if (!row) return 'gone'
  return row.id === null ? 'counter_went_back' : 'advanced'
}

/** Returns undefined when the user has no such passkey. */
export function renamePasskey(
  db: Db,
  { userId, id }: { userId: string; id: string },
  friendlyName: string,
  now: Date,
): Promise<PasskeyRow | undefined> {
  return db
    .updateTable('webauthn_credentials')
    .set({ friendly_name: friendlyName, updated_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(shownColumns)
    .executeTakeFirst()
}

/** Returns false when the user has no such passkey. */
export async function deletePasskey(
  db: Db,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  const result = await db
    .deleteFrom('webauthn_credentials')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Deletes all passkeys of a user. */
export async function deletePasskeys(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('webauthn_credentials').where('user_id', '=', userId).execute()
}
