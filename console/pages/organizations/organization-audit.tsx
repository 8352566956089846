import { AuditTable } from '../../parts/audit-table.tsx'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/paged-rows.tsx'
import { getOrganizationPath, type ShownOrganizationEntry, useList } from './organization.ts'

export function OrganizationAudit({ id }: { id: string }) {
  const pages = useList<ShownOrganizationEntry>(`${getOrganizationPath(id)}/audit`, 'entries')
  return (
    <Card title="Changes" flush>
      <PagedRows
        pages={pages}
        empty={{ title: 'No entries', text: 'Changes of the organization appear here.' }}
      >
        {(entries) => <AuditTable entries={entries.map(toEntry)} />}
      </PagedRows>
    </Card>
  )
}

/** In the form of the audit log of the server. */
function toEntry({ id, created_at, ip_address, ...payload }: ShownOrganizationEntry) {
  const { actor_id, ...rest } = payload
  return { id, created_at, ip_address, payload: { ...rest, ...(actor_id && { actor_id }) } }
}
