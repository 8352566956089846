/** Identities of users at providers, wallets among them. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { executeStatement, type ParamOf, queryOneOrThrow } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'
import { type IdentityRow, identityColumns } from '../tables/identities.ts'
import type { UserMetadata } from '../tables/users.ts'

export interface NewIdentity {
  user_id: string
  provider: string
  provider_id: string
  identity_data: UserMetadata
}

export interface IdentityValues extends Omit<NewIdentity, 'identity_data'> {
  /** JSON. */
  data: string
  now: Date
}

const toRow = (value: ParamOf<IdentityValues>) => ({
  id: sql<string>`gen_random_uuid()`,
  user_id: value('user_id'),
  provider: value('provider'),
  provider_id: value('provider_id'),
  identity_data: value('data'),
  last_sign_in_at: value('now'),
  created_at: value('now'),
  updated_at: value('now'),
})

export function identityValues(
  { identity_data, ...identity }: NewIdentity,
  now: Date,
): IdentityValues {
  return { ...identity, data: JSON.stringify(identity_data), now }
}

const insertRow = queryOneOrThrow((db, value: ParamOf<IdentityValues>) =>
  db.insertInto('identities').values(toRow(value)).returning(identityColumns),
)

export function insertIdentity(db: Db, identity: NewIdentity, now: Date): Promise<IdentityRow> {
  return insertRow(db, identityValues(identity, now))
}

/** The columns of an insert. */
export const identityRowColumns = [
  'id',
  'user_id',
  'provider',
  'provider_id',
  'identity_data',
  'last_sign_in_at',
  'created_at',
  'updated_at',
] as const

/** Builds a statement, or a CTE, that inserts the identity or merges into it if the condition holds. */
export const upsertIdentityRow = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  value: ParamOf<IdentityValues>,
  condition = sql<boolean>`true`,
) => {
  const row = toRow(value)
  return db
    .insertInto('identities')
    .columns(identityRowColumns)
    .expression((eb) =>
      eb
        .selectFrom(sql`(select)`.as('once'))
        .select(identityRowColumns.map((column) => sql`${row[column]}`.as(column)))
        .where(condition),
    )
    .onConflict((conflict) =>
      conflict.columns(['provider_id', 'provider']).doUpdateSet({
        identity_data: sql`${storedObject(sql`identities.identity_data`)} || ${value('data')}::jsonb`,
        updated_at: value('now'),
      }),
    )
}

const upsertRow = executeStatement(upsertIdentityRow)

/** Inserts the user's identity of `provider`, or merges `data` into it. */
export async function upsertIdentity(db: Db, identity: NewIdentity, now: Date): Promise<void> {
  await upsertRow(db, identityValues(identity, now))
}

const verifyEmail = executeStatement(
  (db, value: ParamOf<{ userId: string; email: string; now: Date }>) =>
    db
      .updateTable('identities')
      .set({
        identity_data: sql`${storedObject(sql`identity_data`)} || '{"email_verified": true}'::jsonb`,
        updated_at: value('now'),
      })
      .where('user_id', '=', value('userId'))
      .where('email', '=', value('email')),
)

/** Marks the email of the user's identities with this address as verified. */
export async function verifyIdentityEmail(db: Db, userId: string, email: string, now: Date) {
  await verifyEmail(db, { userId, email, now })
}

/** Deletes all identities of a user except those of the given providers. */
export async function deleteOtherIdentities(db: Db, userId: string, keep: string[]) {
  await db
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider', 'not in', keep)
    .execute()
}

export function findIdentity(
  db: Db,
  provider: string,
  providerId: string,
): Promise<IdentityRow | undefined> {
  return db
    .selectFrom('identities')
    .select(identityColumns)
    .where('provider_id', '=', providerId)
    .where('provider', '=', provider)
    .executeTakeFirst()
}

/** Serializes sign-ins of one user at one provider, also before the identity has a row. */
export async function lockIdentity(trx: Trx, provider: string, providerId: string): Promise<void> {
  await lockName(trx, JSON.stringify(['identity', provider, providerId]))
}

/** Replaces the provider's profile data; the time of the first sign-in stays. */
export async function replaceIdentityData(db: Db, id: string, data: UserMetadata, now: Date) {
  await db
    .updateTable('identities')
    .set({ identity_data: JSON.stringify(data), updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteIdentity(db: Db, id: string): Promise<void> {
  await db.deleteFrom('identities').where('id', '=', id).execute()
}

/** Deletes all identities of a user except this one and those of the given providers. */
export async function deleteOtherIdentitiesOfProvider(
  db: Db,
  { id, user_id }: { id: string; user_id: string },
  keep: string[],
): Promise<void> {
  await db
    .deleteFrom('identities')
    .where('user_id', '=', user_id)
    .where('id', '!=', id)
    .$if(keep.length > 0, (query) => query.where('provider', 'not in', keep))
    .execute()
}

/**
 * Returns the id of the wallet's identity regardless of letter case: GoTrue stores an address as it was typed, so that
 * its database may have two spellings. An exact match comes first, then the oldest.
 */
export async function findWalletIdentity(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('identities')
    .select('provider_id')
    .where('provider', '=', sql.lit('web3'))
    .where(sql<boolean>`lower(provider_id) = lower(${id})`)
    .orderBy(sql`provider_id = ${id}`, 'desc')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.provider_id
}
