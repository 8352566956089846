/** Groups that the SCIM clients of an organization provision, and the roles that they give their members. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'

export interface GroupRow {
  id: string
  /** The SCIM connection. */
  connection_id: string
  name: string
  /** The name in lower case, by which the mapping names the group. */
  mapped_name: string
  external_id: string | null
  role: string | null
  /** Of several groups with a role, the lowest decides; null without a role. */
  priority: number | null
  created_at: Date
  updated_at: Date
}

/** Groups with the role that their name is mapped to. */
const selectGroups = (db: Db) =>
  db
    .selectFrom('postern_scim_groups as g')
    .leftJoin('postern_scim_role_mappings as r', (join) =>
      join
        .onRef('r.sso_provider_id', '=', 'g.sso_provider_id')
        .onRef('r.group_name', '=', 'g.display_name'),
    )
    .select(['g.id', 'g.sso_provider_id as connection_id', 'g.display_name as mapped_name'])
    .select(sql<string>`g.resource ->> 'displayName'`.as('name'))
    .select(['g.external_id', 'r.role', 'r.priority', 'g.created_at', 'g.updated_at'])

/** The first 1,000 groups of each connection, in the order of their priority; those without a role last. */
export async function listGroups(db: Db, organizationId: string): Promise<GroupRow[]> {
  const rows = await db
    .selectFrom('postern_scim_connections as c')
    .innerJoinLateral(
      selectGroups(db)
        .where('g.sso_provider_id', '=', sql.ref<string>('c.sso_provider_id'))
        .orderBy('g.display_name')
        .limit(1000)
        .as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found')
    .where('c.organization_id', '=', organizationId)
    .execute()
  const place = ({ priority }: GroupRow) => priority ?? Number.POSITIVE_INFINITY
  return rows.toSorted((a, b) => place(a) - place(b) || a.mapped_name.localeCompare(b.mapped_name))
}

/** Locks the group, so that its client cannot rename it concurrently. */
export function lockGroup(
  trx: Trx,
  organizationId: string,
  id: string,
): Promise<GroupRow | undefined> {
  return selectGroups(trx)
    .innerJoin('postern_scim_connections as c', 'c.sso_provider_id', 'g.sso_provider_id')
    .where('c.organization_id', '=', organizationId)
    .where('g.id', '=', id)
    .forUpdate('g')
    .executeTakeFirst()
}

/**
 * Null removes the role. Without a priority, a new mapping comes last, and an existing one is unchanged. Returns the
 * priority, null without a role.
 */
export async function setGroupRole(
  trx: Trx,
  { connection_id: id, mapped_name: name }: Pick<GroupRow, 'connection_id' | 'mapped_name'>,
  { role, priority }: { role: string | null; priority: number | undefined },
): Promise<number | null> {
  if (role === null) {
    await trx
      .deleteFrom('postern_scim_role_mappings')
      .where('sso_provider_id', '=', id)
      .where('group_name', '=', name)
      .execute()
    return null
  }
  const last = trx
    .selectFrom('postern_scim_role_mappings')
    .select(sql<number>`coalesce(max(priority) + 1, 0)`.as('priority'))
    .where('sso_provider_id', '=', id)
  const stored = await trx
    .insertInto('postern_scim_role_mappings')
    .values({ sso_provider_id: id, group_name: name, role, priority: priority ?? last })
    .onConflict((conflict) =>
      conflict
        .columns(['sso_provider_id', 'group_name'])
        .doUpdateSet({ role, ...(priority !== undefined && { priority }) }),
    )
    .returning('priority')
    .executeTakeFirstOrThrow()
  return stored.priority
}

/** The roles of other mappings from this priority on, and the default role, which members without a mapping have. */
export async function listRolesFrom(
  trx: Trx,
  { connection_id: id, mapped_name: name }: Pick<GroupRow, 'connection_id' | 'mapped_name'>,
  priority: number | null,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('postern_scim_role_mappings')
    .select('role')
    .where('sso_provider_id', '=', id)
    .where('group_name', '<>', name)
    .where(sql<boolean>`priority >= ${priority}::int`)
    .unionAll(
      trx
        .selectFrom('postern_scim_connections')
        .select('default_role as role')
        .where('sso_provider_id', '=', id),
    )
    .execute()
  return rows.map(({ role }) => role)
}
