import { listAudit } from '../../core/audit.ts'
import { usePages } from '../../core/pages.ts'
import { AuditTable } from '../../parts/audit-table.tsx'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/paged-rows.tsx'
import type { TabProps } from './tab-props.ts'

export function Activity({ user }: TabProps) {
  const pages = usePages(
    (cursor, signal) => listAudit({ user_id: user.id }, cursor, signal),
    user.id,
  )
  return (
    <Card title="Actions of this user, and of admins on the account" flush>
      <PagedRows
        pages={pages}
        empty={{ title: 'No entries', text: 'Sign-ins and changes are recorded as they happen.' }}
      >
        {(entries) => <AuditTable entries={entries} />}
      </PagedRows>
    </Card>
  )
}
