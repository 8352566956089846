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

const selectGroups = (db: Db, organizationId: string) =>
  db
    .selectFrom('postern_scim_groups as g')
    .innerJoin('postern_scim_connections as c', 'c.sso_provider_id', 'g.sso_provider_id')
    .leftJoin('postern_scim_role_mappings as r', (join) =>
      join
        .onRef('r.sso_provider_id', '=', 'g.sso_provider_id')
        .onRef('r.group_name', '=', 'g.display_name'),
    )
    .select(['g.id', 'g.sso_provider_id as connection_id', 'g.display_name as mapped_name'])
    .select(sql<string>`g.resource ->> 'displayName'`.as('name'))
    .select(['g.external_id', 'r.role', 'r.priority', 'g.created_at', 'g.updated_at'])
    .where('c.organization_id', '=', organizationId)

/** In the order in which their roles are looked at, groups without a role last. */
export function listGroups(db: Db, organizationId: string): Promise<GroupRow[]> {
  return selectGroups(db, organizationId)
    .orderBy('r.priority')
    .orderBy('g.display_name')
    .orderBy('g.id')
    .limit(1000)
    .execute()
}

/** Locks the group: its client must not rename it meanwhile. */
export function lockGroup(
  trx: Trx,
  organizationId: string,
  id: string,
): Promise<GroupRow | undefined> {
  return selectGroups(trx, organizationId).where('g.id', '=', id).forUpdate('g').executeTakeFirst()
}

/** Null removes the role. Without a priority, a new mapping comes last, and another keeps its place. */
export async function setGroupRole(
  trx: Trx,
  { connection_id: id, mapped_name: name }: Pick<GroupRow, 'connection_id' | 'mapped_name'>,
  { role, priority }: { role: string | null; priority: number | undefined },
): Promise<void> {
  if (role === null) {
    await trx
      .deleteFrom('postern_scim_role_mappings')
      .where('sso_provider_id', '=', id)
      .where('group_name', '=', name)
      .execute()
    return
  }
  const last = trx
    .selectFrom('postern_scim_role_mappings')
    .select(sql<number>`coalesce(max(priority) + 1, 0)`.as('priority'))
    .where('sso_provider_id', '=', id)
  await trx
    .insertInto('postern_scim_role_mappings')
    .values({ sso_provider_id: id, group_name: name, role, priority: priority ?? last })
    .onConflict((conflict) =>
      conflict
        .columns(['sso_provider_id', 'group_name'])
        .doUpdateSet({ role, ...(priority !== undefined && { priority }) }),
    )
    .execute()
}
