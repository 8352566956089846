/** The part of the audit log that the members of an organization may read. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/paging.ts'
import type { OrganizationAuditEntriesTable } from '../tables/organizations.ts'

type OrganizationAuditEntry = Selectable<OrganizationAuditEntriesTable>

export async function insertOrganizationAuditEntry(
  trx: Trx,
  { traits, acting, ...entry }: Omit<OrganizationAuditEntry, 'id'>,
): Promise<void> {
  await trx
    .insertInto('postern_organization_audit_entries')
    .values({
      id: crypto.randomUUID(),
      ...entry,
      traits: JSON.stringify(traits),
      acting: JSON.stringify(acting),
    })
    .execute()
}

/** Newest first, and one more than a page has. */
export function listOrganizationAudit(
  db: Db,
  organizationId: string,
  { action, after }: { action?: string | undefined; after?: RowCursor | undefined },
  size: number,
) {
  return db
    .selectFrom('postern_organization_audit_entries')
    .selectAll()
    .select(epochMicroseconds('created_at').as('microseconds'))
    .where('organization_id', '=', organizationId)
    .$if(action !== undefined, (qb) => qb.where('action', '=', action ?? ''))
    .$if(after !== undefined, (qb) => qb.where(isBeforeRow(after ?? { microseconds: 0, id: '' })))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}
