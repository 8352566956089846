/**
 * Users who may call the admin API, by role; the one-time links by which a user becomes an admin; and the accounts
 * whose credentials or addresses an admin below owner decided.
 */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type { AdminLinksTable, AdminsTable } from '../tables/server.ts'

type Role = AdminsTable['role']

const findRole = queryOne((db, value: ParamOf<{ userId: string }>) =>
  db.selectFrom('postern_admins').select('role').where('user_id', '=', value('userId')),
)

/** The role of a user; undefined for a user who is no admin. */
export async function findAdminRole(db: Db, userId: string): Promise<Role | undefined> {
  return (await findRole(db, { userId }))?.role
}

/** Whether one of these users is an admin, by the table or by the role of their row. */
export async function hasAdminAmong(
  db: Db,
  userIds: readonly string[],
  adminRoles: readonly string[],
): Promise<boolean> {
  const found = await db
    .selectFrom('users')
    .leftJoin('postern_admins', 'postern_admins.user_id', 'users.id')
    .select('users.id')
    .where('users.id', 'in', userIds)
    .where((eb) =>
      eb.or([
        eb('postern_admins.user_id', 'is not', null),
        ...(adminRoles.length > 0 ? [eb('users.role', 'in', adminRoles)] : []),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export interface ListedAdmin extends AdminsTable {
  email: string | null
  phone: string | null
  last_sign_in_at: Date | null
  has_factor: boolean
}

const listed = (db: Db) =>
  db
    .selectFrom('postern_admins')
    .innerJoin('users', 'users.id', 'postern_admins.user_id')
    .select([
      'postern_admins.user_id',
      'postern_admins.role',
      'postern_admins.created_at',
      'postern_admins.updated_at',
      'users.email',
      'users.phone',
      'users.last_sign_in_at',
    ])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('mfa_factors')
            .select('mfa_factors.id')
            .whereRef('mfa_factors.user_id', '=', 'postern_admins.user_id')
            .where('mfa_factors.status', '=', 'verified'),
        )
        .$castTo<boolean>()
        .as('has_factor'),
    )

/** The oldest first. */
export function listAdmins(db: Db): Promise<ListedAdmin[]> {
  return listed(db).orderBy('postern_admins.created_at').orderBy('postern_admins.user_id').execute()
}

export function findAdmin(db: Db, userId: string): Promise<ListedAdmin | undefined> {
  return listed(db).where('postern_admins.user_id', '=', userId).executeTakeFirst()
}

export async function hasAdmins(db: Db): Promise<boolean> {
  const row = await db.selectFrom('postern_admins').select('user_id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** False when the user is an admin already. */
export async function insertAdmin(trx: Trx, admin: AdminsTable): Promise<boolean> {
  const row = await trx
    .insertInto('postern_admins')
    .values(admin)
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

/** The ids of the owners. */
export async function listServerOwners(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('postern_admins')
    .select('user_id')
    .where('role', '=', 'owner')
    .orderBy('user_id')
    .execute()
  return rows.map(({ user_id: id }) => id)
}

/** The owners, locked in one order, so that two owners cannot remove each other concurrently. */
export async function lockOwners(trx: Trx): Promise<string[]> {
  const rows = await trx
    .selectFrom('postern_admins')
    .select('user_id')
    .where('role', '=', 'owner')
    .orderBy('user_id')
    .forUpdate()
    .execute()
  return rows.map(({ user_id: id }) => id)
}

export async function updateAdminRole(
  trx: Trx,
  userId: string,
  role: Role,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_admins')
    .set({ role, updated_at: now })
    .where('user_id', '=', userId)
    .execute()
}

export async function deleteAdmin(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_admins').where('user_id', '=', userId).execute()
}

export type AdminLink = Pick<AdminLinksTable, 'email' | 'role'>

/** Also removes links that have expired. */
export async function insertAdminLink(db: Db, link: AdminLinksTable): Promise<void> {
  await db
    .with('expired', (cte) =>
      cte.deleteFrom('postern_admin_links').where('expires_at', '<=', link.created_at),
    )
    .insertInto('postern_admin_links')
    .values(link)
    .execute()
}

export function findAdminLink(db: Db, hash: string, now: Date): Promise<AdminLink | undefined> {
  return db
    .selectFrom('postern_admin_links')
    .select(['email', 'role'])
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Returns and deletes the link, for the transaction that consumes it. */
export function consumeAdminLink(
  trx: Trx,
  hash: string,
  now: Date,
): Promise<AdminLink | undefined> {
  return trx
    .deleteFrom('postern_admin_links')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['email', 'role'])
    .executeTakeFirst()
}

/** Unused links that this admin made. */
export async function deleteAdminLinksBy(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_admin_links').where('created_by', '=', userId).execute()
}

/** Links for the first admin, which name no address, and those to the address of a new admin. */
export async function deleteAdminLinksFor(trx: Trx, email: string | null): Promise<void> {
  await trx
    .deleteFrom('postern_admin_links')
    .where((eb) => eb.or([eb('email', 'is', null), eb('email', '=', email)]))
    .execute()
}

/** Transactions that make the first admin run one after another. */
export async function lockFirstAdmin(trx: Trx): Promise<void> {
  await lockName(trx, 'postern_admins')
}

export async function insertPreparedAccounts(
  trx: Trx,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  const rows = trx.selectNoFrom([
    sql<string>`unnest(${[...userIds]}::uuid[])`.as('user_id'),
    sql<Date>`${now}::timestamptz`.as('created_at'),
  ])
  await trx
    .insertInto('postern_prepared_accounts')
    .columns(['user_id', 'created_at'])
    .expression(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function isPreparedAccount(db: Db, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('postern_prepared_accounts')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return found !== undefined
}

export async function deletePreparedAccount(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_prepared_accounts').where('user_id', '=', userId).execute()
}
