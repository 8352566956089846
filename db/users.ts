import type { ColumnType, ExpressionBuilder, Generated, Selectable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from './database.ts'
import { type IdentityJson, identityColumns } from './identities.ts'
import { type FactorJson, factorColumns } from './mfa.ts'
import { userColumns } from './user-columns.ts'

/** Free-form JSON of a person; top-level keys are merged on update. */
export type Metadata = Record<string, unknown>
type MetadataColumn = ColumnType<Metadata | null, string | undefined, string>

export interface UsersTable {
  instance_id: string | null
  id: string
  aud: string | null
  role: string | null
  email: string | null
  encrypted_password: string | null
  email_confirmed_at: Date | null
  invited_at: Date | null
  confirmation_sent_at: Date | null
  recovery_sent_at: Date | null
  email_change: Generated<string | null>
  email_change_sent_at: Date | null
  email_change_confirm_status: Generated<number | null>
  last_sign_in_at: Date | null
  raw_app_meta_data: MetadataColumn
  raw_user_meta_data: MetadataColumn
  created_at: Date | null
  updated_at: Date | null
  phone: string | null
  phone_confirmed_at: Date | null
  phone_change: Generated<string | null>
  phone_change_sent_at: Date | null
  confirmed_at: ColumnType<Date | null, never, never>
  banned_until: Date | null
  reauthentication_sent_at: Date | null
  is_sso_user: Generated<boolean>
  deleted_at: Date | null
  is_anonymous: Generated<boolean>
}

/** The nil UUID that a taken-over database filters on. */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

export type UserRow = Omit<Selectable<UsersTable>, 'instance_id'>

/** A person with what hangs on them: what a client is shown. */
export type UserRecord = UserRow & { identities: IdentityJson[]; factors: FactorJson[] }

/** Subqueries for the identities and factors of the user row in scope. */
export function userRelations(eb: ExpressionBuilder<Database, 'users'>) {
  return [
    jsonArrayFrom(
      eb
        .selectFrom('identities')
        .select(identityColumns)
        .whereRef('identities.user_id', '=', 'users.id')
        .orderBy('identities.created_at')
        .orderBy('identities.id'),
    ).as('identities'),
    jsonArrayFrom(
      eb
        .selectFrom('mfa_factors')
        .select(factorColumns)
        .whereRef('mfa_factors.user_id', '=', 'users.id')
        .orderBy('mfa_factors.created_at'),
    ).as('factors'),
  ] as const
}

const selectUser = (db: Db) => db.selectFrom('users').select(userColumns).select(userRelations)

export function findUser(db: Db, id: string): Promise<UserRecord | undefined> {
  return selectUser(db).where('users.id', '=', id).executeTakeFirst()
}

export function findUserByEmail(db: Db, email: string, aud: string) {
  return selectUser(db)
    .where('users.email', '=', email)
    .where('users.aud', '=', aud)
    .where('users.is_sso_user', '=', false)
    .executeTakeFirst()
}

export function findUserByPhone(db: Db, phone: string, aud: string) {
  return selectUser(db)
    .where('users.phone', '=', phone)
    .where('users.aud', '=', aud)
    .where('users.is_sso_user', '=', false)
    .executeTakeFirst()
}

/**
 * The person whom a sign-up with this address would repeat: the owner of any identity with the address
 * (a provider's counts), else the owner of the address itself.
 */
export function findUserByAnyEmail(db: Db, email: string, aud: string) {
  return selectUser(db)
    .where('users.aud', '=', aud)
    .where('users.is_sso_user', '=', false)
    .where((eb) =>
      eb.or([
        eb('users.email', '=', email),
        eb('users.id', 'in', (sub) =>
          sub.selectFrom('identities').select('user_id').where('identities.email', '=', email),
        ),
      ]),
    )
    .orderBy((eb) => eb('users.email', 'is not distinct from', email), 'desc')
    .limit(1)
    .executeTakeFirst()
}

export interface NewUser {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  encrypted_password: string | null
  raw_app_meta_data: Metadata
  raw_user_meta_data: Metadata
  is_anonymous: boolean
  is_sso_user?: boolean
  email_confirmed_at?: Date | null
  phone_confirmed_at?: Date | null
  banned_until?: Date | null
}

/** Inserts nothing and returns undefined when another request took the address first. */
export async function insertUser(
  db: Db,
  user: NewUser,
  now: Date,
): Promise<UserRecord | undefined> {
  const row = await db
    .insertInto('users')
    .values({
      ...user,
      instance_id: nilUuid,
      raw_app_meta_data: JSON.stringify(user.raw_app_meta_data),
      raw_user_meta_data: JSON.stringify(user.raw_user_meta_data),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(userColumns)
    .executeTakeFirst()
  return row && { ...row, identities: [], factors: [] }
}

/** Columns a caller may set; metadata is merged by `mergeMetadata`, never set here. */
export type UserChange = Partial<
  Omit<UserRow, 'id' | 'confirmed_at' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'created_at'>
>

export async function updateUser(db: Db, id: string, change: UserChange, now: Date): Promise<void> {
  await db
    .updateTable('users')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Locks the row until the transaction ends, so that two requests about one person take turns. */
export async function lockUser(db: Db, id: string): Promise<void> {
  await db.selectFrom('users').select('id').where('id', '=', id).forUpdate().execute()
}

export async function deleteUser(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('users').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}
