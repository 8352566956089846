/** Finds users with their identities and factors. */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from '../core/database.ts'
import { requestedId, selectEachId } from '../core/requested-ids.ts'
import { type ParamOf, queryMany, queryOne } from '../core/statement.ts'
import { type FactorJson, factorColumns } from '../tables/factors.ts'
import { type IdentityJson, identityColumns } from '../tables/identities.ts'
import { type UsersTable, userColumns } from '../tables/users.ts'
import { findVerifiedOwners, ownerId } from './identifier-owners.ts'

export type UserRow = Omit<Selectable<UsersTable>, 'instance_id'>

export function isBanned({ banned_until }: Pick<UserRow, 'banned_until'>, now: Date): boolean {
  return banned_until !== null && banned_until > now
}

/** A user with identities and factors, as clients receive them. */
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

const findById = queryOne((db, value: ParamOf<{ id: string }>) =>
  selectUser(db).where('users.id', '=', value('id')),
)

export function findUser(db: Db, id: string): Promise<UserRecord | undefined> {
  return findById(db, { id })
}

const findEach = queryMany((db, value: ParamOf<{ ids: readonly string[] }>) =>
  selectEachId(db, value('ids'))
    .innerJoinLateral(
      selectUser(db).where('users.id', '=', requestedId).limit(sql.lit(1)).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found'),
)

/** Returns the existing users of these ids. */
export function findUsers(db: Db, ids: readonly string[]): Promise<UserRecord[]> {
  return findEach(db, { ids })
}

interface Address {
  address: string
  aud: string
}

/** The user with this identifier in their row, without SSO users. */
const isHolder =
  (column: 'users.email' | 'users.phone', value: ParamOf<Address>) =>
  (eb: ExpressionBuilder<Database, 'users'>) =>
    eb.and([
      eb(column, '=', value('address')),
      eb('users.aud', '=', value('aud')),
      eb('users.is_sso_user', '=', sql.lit(false)),
    ])

const findByEmail = queryOne((db, value: ParamOf<Address>) =>
  selectUser(db).where(isHolder('users.email', value)),
)

export function findUserByEmail(db: Db, email: string, aud: string) {
  return findByEmail(db, { address: email, aud })
}

const findByPhone = queryOne((db, value: ParamOf<Address>) =>
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

const findHolder = queryOne((db, value: ParamOf<Address>) =>
  db.selectFrom('users').select(holderColumns).where(isHolder('users.phone', value)),
)

/**
 * Reads the few columns that a rejected sign-up needs: reading less reveals less, by the response time, about whether a
 * user was found.
 */
export function findPhoneHolder(db: Db, phone: string, aud: string) {
  return findHolder(db, { address: phone, aud })
}

/** Each owner is looked up by id: as a join, a plan cached for few users would read every user. */
const findByAnyEmail = queryOne((db, value: ParamOf<Address>) =>
  db
    .selectFrom(findVerifiedOwners(db, value('address')).as('owner'))
    .innerJoinLateral(
      selectUser(db).where('users.id', '=', ownerId).limit(sql.lit(1)).as('target_user'),
      (join) => join.onTrue(),
    )
    .selectAll('target_user')
    .where('target_user.aud', '=', value('aud'))
    .where('target_user.is_sso_user', '=', sql.lit(false))
    .orderBy((eb) => eb('target_user.email', 'is not distinct from', value('address')), 'desc')
    .limit(sql.lit(1)),
)

/**
 * Returns the user that a sign-up with this email would repeat: the one with the email in their row, else one with a
 * verified identity.
 */
export function findUserByAnyEmail(db: Db, email: string, aud: string) {
  return findByAnyEmail(db, { address: email, aud })
}

/**
 * Returned with the changed row, for `hasTriggers`: `returning` does not see changes by `after` triggers of the
 * operator, and the row is then read again.
 */
export const usersTableId = sql<number>`users.tableoid`.as('table_id')

/** Whether the table of the CTE `row` has triggers. Internal ones, of foreign keys, change nothing. */
export const hasTriggers = (
  row: 'target_user' | 'confirmed',
) => sql<boolean>`exists (select from pg_trigger
  where tgrelid = ${sql.ref(`${row}.table_id`)} and not tgisinternal)`
