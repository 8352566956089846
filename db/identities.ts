import { type ColumnType, type Generated, type QueryCreator, type Selectable, sql } from 'kysely'

import type { Database, Db, Trx } from './database.ts'
import { preparedOneRow, preparedWrite, type ValueOf } from './prepared-statement.ts'
import type { Metadata } from './users.ts'

export interface IdentitiesTable {
  id: Generated<string>
  provider_id: string
  user_id: string
  identity_data: ColumnType<Metadata, string, string>
  provider: string
  last_sign_in_at: Date | null
  created_at: Date | null
  updated_at: Date | null
  email: ColumnType<string | null, never, never>
}

export const identityColumns = [
  'identities.id',
  'identities.provider_id',
  'identities.user_id',
  'identities.identity_data',
  'identities.provider',
  'identities.last_sign_in_at',
  'identities.created_at',
  'identities.updated_at',
  'identities.email',
] as const

export type IdentityRow = Selectable<IdentitiesTable>

/** As it comes out of a JSON aggregate: times are ISO 8601 strings. */
export type IdentityJson = Omit<IdentityRow, 'last_sign_in_at' | 'created_at' | 'updated_at'> & {
  last_sign_in_at: string | null
  created_at: string | null
  updated_at: string | null
}

export interface NewIdentity {
  user_id: string
  provider: string
  provider_id: string
  identity_data: Metadata
}

export interface IdentityValues extends Omit<NewIdentity, 'identity_data'> {
  /** JSON. */
  data: string
  now: Date
}

const rowOf = (value: ValueOf<IdentityValues>) => ({
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

const insertRow = preparedOneRow((db, value: ValueOf<IdentityValues>) =>
  db.insertInto('identities').values(rowOf(value)).returning(identityColumns),
)

export function insertIdentity(db: Db, identity: NewIdentity, now: Date): Promise<IdentityRow> {
  return insertRow(db, identityValues(identity, now))
}

/** Of a row that is written. */
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

/** Merges into the identity, or makes it, where the condition holds: a statement, or a part of one. */
export const putIdentityRow = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  value: ValueOf<IdentityValues>,
  condition = sql<boolean>`true`,
) => {
  const row = rowOf(value)
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
        identity_data: sql`identities.identity_data || ${value('data')}::jsonb`,
        updated_at: value('now'),
      }),
    )
}

const putRow = preparedWrite(putIdentityRow)

/** Merges `data` into the person's identity of `provider`, or makes that identity. */
export async function putIdentity(db: Db, identity: NewIdentity, now: Date): Promise<void> {
  await putRow(db, identityValues(identity, now))
}

const verifyEmail = preparedWrite(
  (db, value: ValueOf<{ userId: string; email: string; now: Date }>) =>
    db
      .updateTable('identities')
      .set({
        identity_data: sql`identity_data || '{"email_verified": true}'::jsonb`,
        updated_at: value('now'),
      })
      .where('user_id', '=', value('userId'))
      .where('email', '=', value('email')),
)

/** Marks the person's identities that carry this address as verified. */
export async function verifyIdentityEmail(db: Db, userId: string, email: string, now: Date) {
  await verifyEmail(db, { userId, email, now })
}

/** Removes all identities of a person but those of the given providers. */
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

/** Two sign-ins of one person at one provider take turns, also while there is no row to lock. */
export async function lockIdentity(trx: Trx, provider: string, providerId: string): Promise<void> {
  const name = JSON.stringify(['identity', provider, providerId])
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx)
}

/** What the provider says of the person today; the moment of the first sign-in stays. */
export async function replaceIdentityData(db: Db, id: string, data: Metadata, now: Date) {
  await db
    .updateTable('identities')
    .set({ identity_data: JSON.stringify(data), updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteIdentity(db: Db, id: string): Promise<void> {
  await db.deleteFrom('identities').where('id', '=', id).execute()
}

/** Removes all identities of a person but this one and those of the given providers. */
export async function deleteIdentitiesBeside(
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
