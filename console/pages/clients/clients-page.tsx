import { useState } from 'preact/hooks'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { getBody } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { SecretDialog } from '../../parts/dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import { ClientDialog } from './client-dialog.tsx'

const columns: Column<OauthClient>[] = [
  { title: 'Client', kind: 'wrap', cell: (client) => <ClientLink client={client} /> },
  { title: 'Type', cell: ({ client_type }) => <Badge>{formatName(client_type)}</Badge> },
  { title: 'Registered', cell: ({ registration_type }) => formatName(registration_type) },
  { title: 'Client id', kind: 'wrap', cell: ({ client_id }) => <code>{client_id}</code> },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

export function ClientsPage() {
  const of = useResource((signal) => getBody('/admin/oauth/clients?per_page=1000', signal), 'all')
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<OauthClient>()
  const created = (client: OauthClient) => {
    if (client.client_secret) setMade(client)
    else navigate(getClientPath(client))
  }
  return (
    <Page
      title="OAuth clients"
      about="Applications that sign users in through this server."
      actions={
        <Button
          kind="primary"
          disabled={!may('POST /admin/oauth/clients')}
          onClick={() => setCreating(true)}
        >
          Create client
        </Button>
      }
    >
      <Card title="Clients" flush>
        <Loaded of={of}>{({ clients }) => <Clients clients={clients} />}</Loaded>
      </Card>
      {isCreating && <ClientDialog onDone={created} onClose={() => setCreating(false)} />}
      {made?.client_secret && (
        <SecretDialog
          title="Client secret"
          secret={made.client_secret}
          onClose={() => navigate(getClientPath(made))}
        />
      )}
    </Page>
  )
}

function Clients({ clients }: { clients: OauthClient[] }) {
  if (clients.length === 0) {
    return (
      <Empty title="No clients">Create one for each application that signs users in here.</Empty>
    )
  }
  return (
    <Table
      label="OAuth clients"
      columns={columns}
      rows={clients}
      getKey={({ client_id }) => client_id}
    />
  )
}

function ClientLink({ client }: { client: OauthClient }) {
  return <a href={pageUrl(getClientPath(client))}>{client.client_name || client.client_id}</a>
}

const getClientPath = ({ client_id }: OauthClient) => `/clients/${encodeURIComponent(client_id)}`
