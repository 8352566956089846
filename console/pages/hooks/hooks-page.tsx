import { getBody } from '../../core/api.ts'
import { formatCount, formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge } from '../../parts/text.tsx'

interface Hook {
  name: string
  enabled: boolean
  uri: string | null
  has_secret: boolean
  calls: number
  failures: number
}

const columns: Column<Hook>[] = [
  { title: 'Hook', cell: ({ name }) => formatName(name) },
  {
    title: 'State',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Badge>
    ),
  },
  { title: 'Address', kind: 'wrap', cell: ({ uri }) => (uri ? <code>{uri}</code> : '–') },
  { title: 'Secret', cell: ({ enabled, has_secret }) => secretText(enabled, has_secret) },
  { title: 'Calls in 24 h', kind: 'end', cell: ({ calls }) => formatCount(calls) },
  {
    title: 'Failures',
    kind: 'end',
    cell: ({ failures }) => <span class={failures > 0 ? 'bad' : ''}>{formatCount(failures)}</span>,
  },
]

const secretText = (isOn: boolean, isSet: boolean) => (isOn ? (isSet ? 'Set' : 'None') : '–')

export function HooksPage() {
  const of = useResource((signal) => getBody('/admin/hooks', signal), 'all')
  return (
    <Page
      title="Hooks"
      about="Your endpoints and Postgres functions that are called during requests. They are configured in the environment, as AUTH_HOOK_…"
    >
      <Card title="Hooks" flush>
        <Loaded of={of}>
          {({ hooks }) => (
            <Table label="Hooks" columns={columns} rows={hooks} getKey={({ name }) => name} />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
