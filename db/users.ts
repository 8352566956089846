import {
  type ColumnType,
  type ExpressionBuilder,
  type Generated,
  type Selectable,
  sql,
} from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import { ownerId, ownersOf } from './address-owners.ts'
import type { Database, Db } from './database.ts'
import { type IdentityJson, identityColumns } from './identities.ts'
import { type FactorJson, factorColumns } from './mfa.ts'
import { preparedRow, preparedRows, type ValueOf } from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import { eachOf, wantedId } from './wanted-ids.ts'

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

export function isBanned({ banned_until }: Pick<UserRow, 'banned_until'>, now: Date): boolean {
  return banned_until !== null && banned_until > now
}

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

const findById = preparedRow((db, value: ValueOf<{ id: string }>) =>
  selectUser(db).where('users.id', '=', value('id')),
)

export function findUser(db: Db, id: string): Promise<UserRecord | undefined> {
  return findById(db, { id })
}

const findEach = preparedRows((db, value: ValueOf<{ ids: readonly string[] }>) =>
  eachOf(db, value('ids'))
    .innerJoinLateral(
      selectUser(db).where('users.id', '=', wantedId).limit(sql.lit(1)).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found'),
)

/** Those of these ids that there are. */
export function findUsers(db: Db, ids: readonly string[]): Promise<UserRecord[]> {
  return findEach(db, { ids })
}

interface Address {
  address: string
  aud: string
}

/** Whoever has the address as their own; people of organisations do not count. */
const isHolder =
  (column: 'users.email' | 'users.phone', value: ValueOf<Address>) =>
  (eb: ExpressionBuilder<Database, 'users'>) =>
    eb.and([
      eb(column, '=', value('address')),
      eb('users.aud', '=', value('aud')),
      eb('users.is_sso_user', '=', sql.lit(false)),
    ])

const findByEmail = preparedRow((db, value: ValueOf<Address>) =>
  selectUser(db).where(isHolder('users.email', value)),
)

export function findUserByEmail(db: Db, email: string, aud: string) {
  return findByEmail(db, { address: email, aud })
}

const findByPhone = preparedRow((db, value: ValueOf<Address>) =>
  selectUser(db).where(isHolder('users.phone', value)),
)

export function findUserByPhone(db: Db, phone: string, aud: string) {
  return findByPhone(db, { address: phone, aud })
}

const holderColumns = [
  'users.id',
  'users.email',
  'users.email_confirmed_at',
  'users.phone',
  'users.phone_confirmed_at',
  'users.invited_at',
  'users.is_sso_user',
  'users.raw_user_meta_data',
] as const

const findHolder = preparedRow((db, value: ValueOf<Address>) =>
  db.selectFrom('users').select(holderColumns).where(isHolder('users.phone', value)),
)

/**
 * As little of whoever has the number as a sign-up needs that comes to nothing: the less is read, the less the time tells
 * whether somebody was found.
 */
export function findPhoneHolder(db: Db, phone: string, aud: string) {
  return findHolder(db, { address: phone, aud })
}

/** Each owner is looked up by id: joined, a plan that was made for few people would read everybody. */
const findByAnyEmail = preparedRow((db, value: ValueOf<Address>) =>
  db
    .selectFrom(ownersOf(db, value('address')).as('owner'))
    .innerJoinLateral(
      selectUser(db).where('users.id', '=', ownerId).limit(sql.lit(1)).as('person'),
      (join) => join.onTrue(),
    )
    .selectAll('person')
    .where('person.aud', '=', value('aud'))
    .where('person.is_sso_user', '=', sql.lit(false))
    .orderBy((eb) => eb('person.email', 'is not distinct from', value('address')), 'desc')
    .limit(sql.lit(1)),
)

/**
 * The person whom a sign-up with this address would repeat: the owner of the address itself, else of an identity whose
 * provider has verified it.
 */
export function findUserByAnyEmail(db: Db, email: string, aud: string) {
  return findByAnyEmail(db, { address: email, aud })
}
