/** Custom roles, of the server and of organizations. */
import {
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type Selectable,
  sql,
} from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import type { OrganizationRolesTable } from '../tables/organizations.ts'

const { exists, selectFrom } = expressionBuilder<Database>()

export type RoleRow = Selectable<OrganizationRolesTable>

/** A subquery for the stored permissions of a role in an organization: the organization's and the server's. */
export const storedPermissions = (
  eb: Pick<ExpressionBuilder<Database, never>, 'selectFrom'>,
  organizationId: Expression<string>,
  role: Expression<string>,
) =>
  eb
    .selectFrom('postern_organization_roles')
    .innerJoin(
      sql<{ permission: string }>`unnest(postern_organization_roles.permissions)`.as<'granted'>(
        sql`granted(permission)`,
      ),
      (join) => join.onTrue(),
    )
    .select(sql<string[] | null>`array_agg(distinct granted.permission)`.as('permissions'))
    .where(sql<boolean>`postern_organization_roles.name = ${role}`)
    // Not by coalesce, for which no index is used.
    .where(
      sql<boolean>`(postern_organization_roles.organization_id = ${organizationId}
        or postern_organization_roles.organization_id is null)`,
    )

/** The stored permissions of a role; null for one that is not stored. */
export async function findStoredPermissions(
  db: Db,
  organizationId: string,
  role: string,
): Promise<{ isStored: boolean; permissions: string[] }> {
  const rows = await selectRoles(db, organizationId).where('name', '=', role).execute()
  return { isStored: rows.length > 0, permissions: rows.flatMap((row) => row.permissions) }
}

/** Roles that the organization may use; with null, those of the server alone. */
export function listRoles(db: Db, organizationId: string | null): Promise<RoleRow[]> {
  return selectRoles(db, organizationId).orderBy('name').execute()
}

function selectRoles(db: Db, organizationId: string | null) {
  return db
    .selectFrom('postern_organization_roles')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('organization_id', 'is', null),
        ...(organizationId === null ? [] : [eb('organization_id', '=', organizationId)]),
      ]),
    )
}

/** A role of the organization itself; with null, of the server. */
export function findRole(
  db: Db,
  organizationId: string | null,
  name: string,
): Promise<RoleRow | undefined> {
  return db
    .selectFrom('postern_organization_roles')
    .selectAll()
    .where('name', '=', name)
    .where('organization_id', organizationId === null ? 'is' : '=', organizationId)
    .executeTakeFirst()
}

/** Undefined when the name is taken. */
export function insertRole(
  trx: Trx,
  { permissions, ...role }: Omit<RoleRow, 'created_at' | 'updated_at'>,
  now: Date,
): Promise<RoleRow | undefined> {
  return trx
    .insertInto('postern_organization_roles')
    .values({ ...role, permissions, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

export function updateRole(
  trx: Trx,
  id: string,
  change: Partial<Pick<RoleRow, 'description' | 'permissions'>>,
  now: Date,
): Promise<RoleRow> {
  return trx
    .updateTable('postern_organization_roles')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteRole(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('postern_organization_roles').where('id', '=', id).execute()
}

/**
 * True when a member, an invitation, a connection (also one for SCIM) or an organization names the role; with null, of
 * any organization.
 */
export async function isRoleUsed(
  trx: Trx,
  organizationId: string | null,
  name: string,
): Promise<boolean> {
  const places = [
    ['postern_organization_members', 'organization_id', sql<boolean>`role = ${name}`],
    ['postern_organization_invitations', 'organization_id', sql<boolean>`role = ${name}`],
    ['postern_organization_connections', 'organization_id', isMappedTo(name)],
    ['postern_scim_connections', 'organization_id', isProvisionedWith(name)],
    ['postern_organizations', 'id', sql<boolean>`default_role = ${name}`],
  ] as const
  for (const [table, key, isNamed] of places) {
    const found = await trx
      .selectFrom(table)
      .select(sql<number>`1`.as('one'))
      .where(isNamed)
      .$if(organizationId !== null, (qb) =>
        qb.where(sql<boolean>`${sql.ref(key)} = ${organizationId}`),
      )
      .limit(1)
      .executeTakeFirst()
    if (found) return true
  }
  return false
}

const isMappedTo = (name: string) =>
  sql<boolean>`(default_role = ${name} or role_mapping @> ${JSON.stringify([{ role: name }])}::jsonb)`

const isProvisionedWith = (name: string) => {
  const mapping = selectFrom('postern_scim_role_mappings as mapping')
    .select(sql`1`.as('one'))
    .where('mapping.role', '=', name)
    .where(sql<boolean>`mapping.sso_provider_id = postern_scim_connections.sso_provider_id`)
  return sql<boolean>`(default_role = ${name} or ${exists(mapping)})`
}
