/** Provisioned groups and their members. A connection accesses only its own groups. */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db, Trx } from '../core/database.ts'
import type { ScimGroupsTable, StoredScimResource } from '../tables/scim.ts'
import {
  afterSql,
  type Condition,
  conditionSql,
  createdText,
  type PageRequest,
} from './conditions.ts'
import type { ResourceKey } from './users.ts'

export interface ScimGroupRow extends Selectable<ScimGroupsTable> {
  /** Undefined when the members were not requested. */
  members?: { id: string }[]
}

const selectMembers = (eb: ExpressionBuilder<Database, 'postern_scim_groups'>) =>
  jsonArrayFrom(
    eb
      .selectFrom('postern_scim_group_members as member')
      .innerJoin('scim_users as of_group', 'of_group.id', 'member.scim_user_id')
      .select('of_group.id')
      .whereRef('member.group_id', '=', 'postern_scim_groups.id')
      .where('of_group.deleted_at', 'is', null)
      .orderBy('of_group.created_at')
      .orderBy('of_group.id'),
  ).as('members')

const selectGroup = (db: Db, withMembers: boolean) =>
  db
    .selectFrom('postern_scim_groups')
    .selectAll('postern_scim_groups')
    .$if(withMembers, (qb) => qb.select(selectMembers))

export function findScimGroup(
  db: Db,
  key: ResourceKey,
  { withMembers }: { withMembers: boolean },
): Promise<ScimGroupRow | undefined> {
  return selectGroup(db, withMembers)
    .where('id', '=', key.id)
    .where('sso_provider_id', '=', key.connectionId)
    .executeTakeFirst()
}

/** Locks the row until the transaction ends. */
export function lockScimGroup(trx: Trx, key: ResourceKey): Promise<ScimGroupRow | undefined> {
  return selectGroup(trx, false)
    .where('id', '=', key.id)
    .where('sso_provider_id', '=', key.connectionId)
    .forUpdate()
    .executeTakeFirst()
}

/** Throws a unique violation when the displayName is taken. */
export async function insertScimGroup(
  trx: Trx,
  { connectionId, id }: ResourceKey,
  resource: StoredScimResource,
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  await trx
    .insertInto('postern_scim_groups')
    .values({ id, sso_provider_id: connectionId, resource: JSON.stringify(resource), ...times })
    .execute()
}

/** Each change has a later time than the one before: it is the version of the resource. */
export async function updateScimGroup(
  trx: Trx,
  key: ResourceKey,
  resource: StoredScimResource,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_scim_groups')
    .set({
      resource: JSON.stringify(resource),
      updated_at: sql<Date>`greatest(${now}::timestamptz, updated_at + interval '1 millisecond')`,
    })
    .where('id', '=', key.id)
    .where('sso_provider_id', '=', key.connectionId)
    .execute()
}

export async function deleteScimGroup(trx: Trx, key: ResourceKey): Promise<void> {
  await trx
    .deleteFrom('postern_scim_groups')
    .where('id', '=', key.id)
    .where('sso_provider_id', '=', key.connectionId)
    .execute()
}

export async function listMemberIds(db: Db, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('postern_scim_group_members')
    .select('scim_user_id')
    .where('group_id', '=', groupId)
    .execute()
  return rows.map(({ scim_user_id }) => scim_user_id)
}

/** Adds users of the connection. Returns the ids that the connection has a user for. */
export async function addGroupMembers(
  trx: Trx,
  { connectionId, id }: ResourceKey,
  userIds: readonly string[],
): Promise<string[]> {
  const known = await trx
    .selectFrom('scim_users')
    .select('id')
    .where('sso_provider_id', '=', connectionId)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`id = any(${[...userIds]}::uuid[])`)
    .orderBy('id')
    .forKeyShare()
    .execute()
  const ids = known.map((row) => row.id)
  const rows = trx.selectNoFrom([
    sql<string>`${id}::uuid`.as('group_id'),
    sql<string>`unnest(${ids}::uuid[])`.as('scim_user_id'),
  ])
  await trx
    .insertInto('postern_scim_group_members')
    .columns(['group_id', 'scim_user_id'])
    .expression(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return ids
}

export async function removeGroupMembers(
  trx: Trx,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('postern_scim_group_members')
    .where('group_id', '=', groupId)
    .where(sql<boolean>`scim_user_id = any(${[...userIds]}::uuid[])`)
    .execute()
}

/** Removes a deleted user from all groups. */
export async function leaveGroups(trx: Trx, scimUserId: string): Promise<void> {
  await trx
    .deleteFrom('postern_scim_group_members')
    .where('scim_user_id', '=', scimUserId)
    .execute()
}

/** Groups of the connection that match, in the order of their creation. */
export function listScimGroups(
  db: Db,
  connectionId: string,
  filter: Condition | undefined,
  { limit, offset, after, withMembers }: PageRequest & { withMembers: boolean },
) {
  return selectGroup(db, withMembers)
    .select(createdText('postern_scim_groups').as('created_text'))
    .where('sso_provider_id', '=', connectionId)
    .where(toSqlCondition(filter))
    .where(afterSql('postern_scim_groups', after))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function countScimGroups(
  db: Db,
  connectionId: string,
  filter: Condition | undefined,
): Promise<number> {
  const { count } = await db
    .selectFrom('postern_scim_groups')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('sso_provider_id', '=', connectionId)
    .where(toSqlCondition(filter))
    .executeTakeFirstOrThrow()
  return count
}

const toSqlCondition = (filter: Condition | undefined) =>
  filter ? conditionSql(filter, 'postern_scim_groups') : sql<boolean>`true`
