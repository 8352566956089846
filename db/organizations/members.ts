/** Members of organizations, alone and with their users. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/paging.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type { OrganizationMembersTable } from '../tables/organizations.ts'
import { storedPermissions } from './roles.ts'

export type MemberRow = Selectable<OrganizationMembersTable>

export type NewMember = Omit<MemberRow, 'created_at' | 'updated_at' | 'status'>

type MemberUpdate = Partial<Pick<MemberRow, 'role' | 'status' | 'connection_id'>>

/** A member with the stored permissions of their role. */
interface MembershipRow extends MemberRow {
  role_permissions: string[] | null
}

const findOne = queryOne((db, value: ParamOf<{ organizationId: string; userId: string }>) =>
  db
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .selectAll('postern_organization_members')
    .select((eb) =>
      storedPermissions(
        eb,
        sql.ref('postern_organization_members.organization_id'),
        sql.ref('postern_organization_members.role'),
      ).as('role_permissions'),
    )
    .where('organization_id', '=', value('organizationId'))
    .where('user_id', '=', value('userId'))
    .where('postern_organizations.deleted_at', 'is', null),
)

/** Undefined for a user who is not a member, and for a deleted organization. */
export function findMembership(
  db: Db,
  organizationId: string,
  userId: string,
): Promise<MembershipRow | undefined> {
  return findOne(db, { organizationId, userId })
}

/** Undefined when the user is a member already. */
export function insertMember(
  trx: Trx,
  member: NewMember,
  now: Date,
): Promise<MemberRow | undefined> {
  return trx
    .insertInto('postern_organization_members')
    .values({ ...member, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Finds the member without the permissions, also of a deleted organization. */
export function findMember(
  db: Db,
  organizationId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  return db
    .selectFrom('postern_organization_members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export function updateMember(
  trx: Trx,
  { organization_id, user_id }: Pick<MemberRow, 'organization_id' | 'user_id'>,
  change: MemberUpdate,
  now: Date,
): Promise<MemberRow> {
  return trx
    .updateTable('postern_organization_members')
    .set({ ...change, updated_at: now })
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Also clears the organization of the user's sessions, by a foreign key. */
export async function deleteMember(
  trx: Trx,
  { organization_id, user_id }: Pick<MemberRow, 'organization_id' | 'user_id'>,
): Promise<void> {
  await trx
    .deleteFrom('postern_organization_members')
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .execute()
}

/** The organization must be locked, so that two owners cannot be removed concurrently. */
export async function listOwners(trx: Trx, organizationId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('postern_organization_members')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .execute()
  return rows.map(({ user_id }) => user_id)
}

/** Organizations, not deleted, of which the user is an active owner, in the order of their locks. */
export async function ownedOrganizations(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select('organization_id')
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .where('postern_organizations.deleted_at', 'is', null)
    .orderBy('organization_id')
    .execute()
  return rows.map(({ organization_id }) => organization_id)
}

export async function countMembers(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('postern_organization_members')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return count
}

export async function countUserOrganizations(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', userId)
    .where('postern_organizations.deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** The memberships of a deleted user. */
export async function deleteUserMemberships(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_organization_members').where('user_id', '=', userId).execute()
}

/**
 * Deletes the memberships that sessions of the user obtained, also of a last owner. Returns them. Those by an admin, a
 * connection or a SCIM client stay.
 */
export function deleteObtainedMemberships(trx: Trx, userId: string): Promise<MemberRow[]> {
  return trx
    .deleteFrom('postern_organization_members')
    .where('user_id', '=', userId)
    .where('joined_by', 'in', ['creation', 'invitation', 'domain'])
    .returningAll()
    .execute()
}

interface MemberFilter {
  /** Part of the email or of the name. */
  search?: string | undefined
  role?: string | undefined
  after?: RowCursor | undefined
}

const listed = (db: Db) =>
  db
    .selectFrom('postern_organization_members')
    .innerJoin('users', 'users.id', 'user_id')
    .selectAll('postern_organization_members')
    .select([
      'users.email',
      'users.phone',
      'users.raw_user_meta_data',
      epochMicroseconds('postern_organization_members.created_at').as('microseconds'),
    ])

/** Newest first, and one more than a page has. */
export function listMembers(
  db: Db,
  organizationId: string,
  { search, role, after }: MemberFilter,
  size: number,
) {
  const pattern = `%${(search ?? '').replaceAll(/[\\%_]/g, '\\$&')}%`
  return listed(db)
    .where('organization_id', '=', organizationId)
    .$if(role !== undefined, (qb) => qb.where('postern_organization_members.role', '=', role ?? ''))
    .$if(search !== undefined, (qb) =>
      qb.where(
        sql<boolean>`(users.email ilike ${pattern} or coalesce(users.raw_user_meta_data ->> 'full_name',
          users.raw_user_meta_data ->> 'name') ilike ${pattern})`,
      ),
    )
    .$if(after !== undefined, (qb) =>
      qb.where(
        isBeforeRow(
          after ?? { microseconds: 0, id: '' },
          'postern_organization_members.created_at',
          'postern_organization_members.user_id',
        ),
      ),
    )
    .orderBy('postern_organization_members.created_at', 'desc')
    .orderBy('postern_organization_members.user_id', 'desc')
    .limit(size + 1)
    .execute()
}

export function findListedMember(db: Db, organizationId: string, userId: string) {
  return listed(db)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}
