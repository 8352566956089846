/** Groups of organizations, which provisioning clients write. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { OrganizationGroupsTable } from '../tables/organizations.ts'

export type GroupRow = Selectable<OrganizationGroupsTable>

export function listGroups(db: Db, organizationId: string): Promise<GroupRow[]> {
  return db
    .selectFrom('postern_organization_groups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('priority')
    .orderBy('name')
    .limit(1000)
    .execute()
}

export function findGroup(
  db: Db,
  organizationId: string,
  id: string,
): Promise<GroupRow | undefined> {
  return db
    .selectFrom('postern_organization_groups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function updateGroup(
  trx: Trx,
  id: string,
  change: Partial<Pick<GroupRow, 'role' | 'priority'>>,
  now: Date,
): Promise<GroupRow> {
  return trx
    .updateTable('postern_organization_groups')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
