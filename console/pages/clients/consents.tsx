import { requestApi, withQuery } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { usePages } from '../../core/pages.ts'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/paged-rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'

interface Consent {
  user_id: string
  email: string | null
  scopes: string[]
  granted_at: string
}

interface Found {
  consents: Consent[]
  next_cursor: string | null
}

const columns: Column<Consent>[] = [
  {
    title: 'User',
    kind: 'wrap',
    cell: ({ user_id, email }) => <a href={pageUrl(`/users/${user_id}`)}>{email || user_id}</a>,
  },
  { title: 'Scopes', kind: 'wrap', cell: ({ scopes }) => scopes.join(', ') },
  { title: 'Granted', cell: ({ granted_at }) => <Time at={granted_at} /> },
]

/** The users who granted a client access. */
export function Consents({ clientId }: { clientId: string }) {
  const base = `/admin/oauth/clients/${encodeURIComponent(clientId)}/consents`
  const pages = usePages(async (cursor, signal) => {
    const found = await requestApi<Found>(withQuery(base, { cursor, limit: 50 }), { signal })
    return { items: found.body.consents, next: found.body.next_cursor ?? undefined }
  }, base)
  return (
    <Card title="Consents" flush>
      <PagedRows
        pages={pages}
        empty={{
          title: 'No consents',
          text: 'Users appear here when they grant the client access.',
        }}
      >
        {(consents) => (
          <Table
            label="Consents"
            columns={columns}
            rows={consents}
            getKey={({ user_id }) => user_id}
          />
        )}
      </PagedRows>
    </Card>
  )
}
