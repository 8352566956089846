/** Rows of organizations, and the organizations of a user. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/paging.ts'
import type { OrganizationsTable } from '../tables/organizations.ts'
import { storedPermissions } from './roles.ts'

export type OrganizationRow = Selectable<OrganizationsTable>

type NewOrganization = Pick<OrganizationRow, 'id' | 'slug' | 'name' | 'metadata'> & {
  created_by: string | null
}

export type OrganizationUpdate = Partial<
  Pick<
    OrganizationRow,
    | 'slug'
    | 'name'
    | 'metadata'
    | 'invitation_join'
    | 'domain_join'
    | 'sso_join'
    | 'scim_join'
    | 'default_role'
  >
>

/** Undefined when the slug is taken. */
export function insertOrganization(
  trx: Trx,
  { metadata, ...organization }: NewOrganization,
  now: Date,
): Promise<OrganizationRow | undefined> {
  return trx
    .insertInto('postern_organizations')
    .values({
      ...organization,
      metadata: JSON.stringify(metadata),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Finds deleted organizations, too. */
export function findOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return db.selectFrom('postern_organizations').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Locks the row against changes and further members until the transaction ends. */
export function lockOrganization(trx: Trx, id: string): Promise<OrganizationRow | undefined> {
  return trx
    .selectFrom('postern_organizations')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

export function updateOrganization(
  trx: Trx,
  id: string,
  { metadata, ...change }: OrganizationUpdate,
  now: Date,
): Promise<OrganizationRow> {
  return trx
    .updateTable('postern_organizations')
    .set({ ...change, ...(metadata && { metadata: JSON.stringify(metadata) }), updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes softly, or restores with null. */
export async function setDeletedAt(
  trx: Trx,
  id: string,
  deletedAt: Date | null,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_organizations')
    .set({ deleted_at: deletedAt, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteOrganizationRow(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('postern_organizations').where('id', '=', id).execute()
}

interface OrganizationFilter {
  /** Part of the name or of the slug. */
  search?: string | undefined
  deleted: boolean
  after?: RowCursor | undefined
}

/** Newest first, and one more than a page has. */
export function listAllOrganizations(db: Db, filter: OrganizationFilter, size: number) {
  const { search, deleted, after } = filter
  return db
    .selectFrom('postern_organizations')
    .selectAll()
    .select(epochMicroseconds('postern_organizations.created_at').as('microseconds'))
    .select((eb) =>
      eb
        .selectFrom('postern_organization_members')
        .select(sql<number>`count(*)::int`.as('count'))
        .whereRef('organization_id', '=', 'postern_organizations.id')
        .as('member_count'),
    )
    .where('deleted_at', deleted ? 'is not' : 'is', null)
    .$if(search !== undefined, (qb) => qb.where(matches(search ?? '')))
    .$if(after !== undefined, (qb) => qb.where(isBeforeRow(after ?? { microseconds: 0, id: '' })))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}

/** A condition for a part of the name or of the slug; pattern characters are matched literally. */
function matches(search: string) {
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&').toLowerCase()}%`
  return sql<boolean>`(lower(postern_organizations.name) like ${pattern}
    or postern_organizations.slug like ${pattern})`
}

interface MembershipFilter {
  /** Whose active organization is marked. */
  sessionId: string | null
  /** Part of the name or of the slug. */
  search?: string | undefined
  after?: RowCursor | undefined
}

/** Last joined first, and one more than a page has. */
export function listMemberships(
  db: Db,
  userId: string,
  { sessionId, search, after }: MembershipFilter,
  size: number,
) {
  const joined = 'postern_organization_members.created_at'
  return db
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .leftJoin('postern_session_organizations as active', (join) =>
      join
        .onRef('active.organization_id', '=', 'postern_organizations.id')
        .on('active.session_id', '=', sessionId),
    )
    .selectAll('postern_organizations')
    .select([
      'postern_organization_members.role',
      'postern_organization_members.joined_by',
      'postern_organization_members.created_at as joined_at',
      sql<boolean>`active.session_id is not null`.as('is_active'),
      epochMicroseconds(joined).as('microseconds'),
    ])
    .select((eb) =>
      storedPermissions(
        eb,
        sql.ref('postern_organizations.id'),
        sql.ref('postern_organization_members.role'),
      ).as('role_permissions'),
    )
    .where('postern_organization_members.user_id', '=', userId)
    .where('postern_organization_members.status', '=', 'active')
    .where('postern_organizations.deleted_at', 'is', null)
    .$if(search !== undefined, (qb) => qb.where(matches(search ?? '')))
    .$if(after !== undefined, (qb) =>
      qb.where(
        isBeforeRow(after ?? { microseconds: 0, id: '' }, joined, 'postern_organizations.id'),
      ),
    )
    .orderBy(joined, 'desc')
    .orderBy('postern_organizations.id', 'desc')
    .limit(size + 1)
    .execute()
}
