import { pageUrl } from '../core/base.ts'
import { formatName } from '../core/format.ts'
import type { ShownAuditEntry } from '../core/shapes.ts'
import { type Column, Table } from './table.tsx'
import { Badge, Lines, Moment } from './text.tsx'

const columns: Column<ShownAuditEntry>[] = [
  { title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
  { title: 'Action', cell: ({ payload }) => formatName(payload.action ?? '') },
  { title: 'By', kind: 'cut', cell: ({ payload }) => <Author {...payload} /> },
  { title: 'On', kind: 'cut', cell: ({ payload }) => <Subject {...payload} /> },
  { title: 'Details', cell: ({ payload }) => <Traits {...payload} /> },
  { title: 'IP address', cell: ({ ip_address }) => ip_address || '–' },
]

export function AuditTable({ entries }: { entries: ShownAuditEntry[] }) {
  return <Table label="Audit entries" columns={columns} rows={entries} getKey={({ id }) => id} />
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

function Author({ actor_id, actor_username, actor_name }: ShownAuditEntry['payload']) {
  if (actor_id === nilUuid) return <Badge>{actor_username ?? 'service key'}</Badge>
  return <span title={actor_id}>{actor_username || actor_name || actor_id || '–'}</span>
}

/** The user or object that an admin changed. */
function Subject({ traits = {} }: ShownAuditEntry['payload']) {
  const { user_id, user_email, user_phone, organization_id } = traits
  if (typeof user_id === 'string') {
    const name = [user_email, user_phone].find((each) => typeof each === 'string' && each !== '')
    return <a href={pageUrl(`/users/${user_id}`)}>{String(name ?? shortened(user_id))}</a>
  }
  if (typeof organization_id === 'string') {
    return <a href={pageUrl(`/organizations/${organization_id}`)}>{shortened(organization_id)}</a>
  }
  const other = ['kid', 'client_id', 'webhook_id'].find((each) => each in traits)
  if (!other) return <span class="quiet">–</span>
  const id = String(traits[other])
  return <code title={id}>{shortened(id)}</code>
}

/** The whole id is in the details. */
const shortened = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…` : id)

function Traits({ traits = {} }: ShownAuditEntry['payload']) {
  if (Object.keys(traits).length === 0) return <span class="quiet">–</span>
  return (
    <details>
      <summary>{'after' in traits || 'before' in traits ? 'Changes' : 'Details'}</summary>
      <Lines label="Details of the entry">{JSON.stringify(traits, null, 2)}</Lines>
    </details>
  )
}
