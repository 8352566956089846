/** Provisioned users. A connection accesses only its own users. */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db, Trx } from '../core/database.ts'
import { executePipelined, type ParamOf, queryOne } from '../core/statement.ts'
import type { ScimUsersTable, StoredScimResource } from '../tables/scim.ts'
import {
  afterSql,
  type Condition,
  conditionSql,
  createdText,
  type PageRequest,
} from './conditions.ts'

export interface ScimUserRow extends Selectable<ScimUsersTable> {
  /** The account was created for this user. */
  owns_account: boolean
  groups: { id: string; name: string }[]
}

const ownsAccount = (eb: ExpressionBuilder<Database, 'scim_users'>) =>
  eb
    .exists(
      eb
        .selectFrom('postern_scim_accounts as own')
        .select('own.scim_user_id')
        .whereRef('own.scim_user_id', '=', 'scim_users.id'),
    )
    .$castTo<boolean>()
    .as('owns_account')

const selectUser = (db: Db) =>
  db
    .selectFrom('scim_users')
    .selectAll('scim_users')
    .select((eb) => [
      ownsAccount(eb),
      jsonArrayFrom(
        eb
          .selectFrom('postern_scim_group_members as member')
          .innerJoin('postern_scim_groups as of_user', 'of_user.id', 'member.group_id')
          .select(['of_user.id', sql<string>`of_user.resource ->> 'displayName'`.as('name')])
          .whereRef('member.scim_user_id', '=', 'scim_users.id')
          .orderBy('of_user.id'),
      ).as('groups'),
    ])

const find = queryOne((db, value: ParamOf<{ connectionId: string; id: string }>) =>
  selectUser(db)
    .where('scim_users.id', '=', value('id'))
    .where('scim_users.sso_provider_id', '=', value('connectionId'))
    .where('scim_users.deleted_at', 'is', null),
)

export interface ResourceKey {
  connectionId: string
  id: string
}

export function findScimUser(
  db: Db,
  { connectionId, id }: ResourceKey,
): Promise<ScimUserRow | undefined> {
  return find(db, { connectionId, id })
}

const lockAccount = executePipelined((db, value: ParamOf<ResourceKey>) =>
  db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', (eb) =>
      eb
        .selectFrom('scim_users')
        .select('scim_users.user_id')
        .where('scim_users.id', '=', value('id'))
        .where('scim_users.sso_provider_id', '=', value('connectionId'))
        .where('scim_users.deleted_at', 'is', null),
    )
    .forUpdate(),
)

/** Locks the account of the user, as `lockUser` does. */
export async function lockScimAccount(trx: Trx, { connectionId, id }: ResourceKey): Promise<void> {
  await lockAccount(trx, { connectionId, id })
}

/** Not a key lock: groups refer to users while accounts are locked. */
const selectLocked = (db: Db, value: ParamOf<ResourceKey>) =>
  db
    .selectFrom('scim_users')
    .select(['id', 'user_id', 'deleted_at'])
    .where('id', '=', value('id'))
    .where('sso_provider_id', '=', value('connectionId'))
    .forNoKeyUpdate()

const lockRow = executePipelined(selectLocked)
const lockAndFindRow = queryOne(selectLocked)

/** Locks the row until the transaction ends. The account must be locked before. */
export async function lockScimUser(trx: Trx, { connectionId, id }: ResourceKey): Promise<void> {
  await lockRow(trx, { connectionId, id })
}

/** The same, and returns the row, deleted or not. */
export function lockAndFindScimUser(trx: Trx, { connectionId, id }: ResourceKey) {
  return lockAndFindRow(trx, { connectionId, id })
}

/** The latest deleted user of this name. */
export function findDeletedScimUser(trx: Trx, connectionId: string, userName: string) {
  return trx
    .selectFrom('scim_users')
    .select((eb) => ['id', 'user_id', ownsAccount(eb)])
    .where('sso_provider_id', '=', connectionId)
    .where('user_name', '=', sql<string>`lower(${userName})`)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Throws a unique violation when the userName is taken. */
export async function insertScimUser(
  trx: Trx,
  { connectionId, id }: ResourceKey,
  { userId, resource }: { userId: string; resource: StoredScimResource },
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now, deleted_at: null }
  const json = JSON.stringify(resource)
  await trx
    .insertInto('scim_users')
    .values({ id, sso_provider_id: connectionId, user_id: userId, resource: json, ...times })
    .execute()
}

/**
 * Each change has a later time than the one before: it is the version of the resource. Returns the row after it. Throws
 * a unique violation when the userName is taken.
 */
export function updateScimUser(
  trx: Trx,
  { connectionId, id }: ResourceKey,
  change: { resource?: StoredScimResource; userId?: string; deletedAt?: Date | null },
  now: Date,
): Promise<Selectable<ScimUsersTable> | undefined> {
  const { resource, userId, deletedAt } = change
  return trx
    .updateTable('scim_users')
    .set({
      updated_at: sql<Date>`greatest(${now}::timestamptz, updated_at + interval '1 millisecond')`,
      ...(resource && { resource: JSON.stringify(resource) }),
      ...(userId !== undefined && { user_id: userId }),
      ...(deletedAt !== undefined && { deleted_at: deletedAt }),
    })
    .where('id', '=', id)
    .where('sso_provider_id', '=', connectionId)
    .returningAll()
    .executeTakeFirst()
}

/** Records whether the account was created for the user. */
export async function setOwnsAccount(trx: Trx, scimUserId: string, owns: boolean): Promise<void> {
  await trx.deleteFrom('postern_scim_accounts').where('scim_user_id', '=', scimUserId).execute()
  if (!owns) return
  await trx.insertInto('postern_scim_accounts').values({ scim_user_id: scimUserId }).execute()
}

/** The connection of the provisioned user who has this account. */
export async function findProvisioner(trx: Trx, userId: string): Promise<string | undefined> {
  const found = await trx
    .selectFrom('scim_users')
    .select('sso_provider_id')
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found?.sso_provider_id
}

export async function isUserNameTaken(
  trx: Trx,
  connectionId: string,
  userName: string,
): Promise<boolean> {
  const found = await trx
    .selectFrom('scim_users')
    .select('id')
    .where('sso_provider_id', '=', connectionId)
    .where('user_name', '=', sql<string>`lower(${userName})`)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** Users of the connection that match, in the order of their creation. */
export function listScimUsers(
  db: Db,
  connectionId: string,
  filter: Condition | undefined,
  { limit, offset, after }: PageRequest,
) {
  return selectUser(db)
    .select(createdText('scim_users').as('created_text'))
    .where('scim_users.sso_provider_id', '=', connectionId)
    .where('scim_users.deleted_at', 'is', null)
    .where(toSqlCondition(filter))
    .where(afterSql('scim_users', after))
    .orderBy('scim_users.created_at')
    .orderBy('scim_users.id')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function countScimUsers(
  db: Db,
  connectionId: string,
  filter: Condition | undefined,
): Promise<number> {
  const { count } = await db
    .selectFrom('scim_users')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('sso_provider_id', '=', connectionId)
    .where('deleted_at', 'is', null)
    .where(toSqlCondition(filter))
    .executeTakeFirstOrThrow()
  return count
}

const toSqlCondition = (filter: Condition | undefined) =>
  filter ? conditionSql(filter, 'scim_users') : sql<boolean>`true`
