import { pageUrl } from '../core/base.ts'
import { formatName } from '../core/format.ts'
import type { ShownAuditEntry } from '../core/shapes.ts'
import { type Column, Table } from './table.tsx'
import { Badge, Moment } from './text.tsx'

const columns: Column<ShownAuditEntry>[] = [
  { title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
  { title: 'Action', cell: ({ payload }) => formatName(payload.action ?? '') },
  { title: 'By', kind: 'wrap', cell: ({ payload }) => <Author {...payload} /> },
  { title: 'On', kind: 'wrap', cell: ({ payload }) => <Subject {...payload} /> },
  { title: 'Address', cell: ({ ip_address }) => ip_address || '–' },
  { title: 'Details', cell: ({ payload }) => <Traits {...payload} /> },
]

export function AuditTable({ entries }: { entries: ShownAuditEntry[] }) {
  return <Table label="Audit entries" columns={columns} rows={entries} keyOf={({ id }) => id} />
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

function Author({ actor_id, actor_username, actor_name }: ShownAuditEntry['payload']) {
  if (actor_id === nilUuid) return <Badge>{actor_username ?? 'service key'}</Badge>
  return <span title={actor_id}>{actor_username || actor_name || actor_id || '–'}</span>
}

/** The user or object that an admin changed. */
function Subject({ traits = {} }: ShownAuditEntry['payload']) {
  const { user_id, user_email, user_phone } = traits
  if (typeof user_id === 'string') {
    const name = [user_email, user_phone].find((each) => typeof each === 'string' && each !== '')
    return <a href={pageUrl(`/users/${user_id}`)}>{String(name ?? user_id)}</a>
  }
  const other = ['kid', 'client_id', 'webhook_id'].find((each) => each in traits)
  return other ? <code>{String(traits[other])}</code> : <span class="quiet">–</span>
}

function Traits({ traits = {} }: ShownAuditEntry['payload']) {
  if (Object.keys(traits).length === 0) return <span class="quiet">–</span>
  return (
    <details>
      <summary>{'after' in traits || 'before' in traits ? 'Changes' : 'Details'}</summary>
      <pre>{JSON.stringify(traits, null, 2)}</pre>
    </details>
  )
}
