import { useState } from 'preact/hooks'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { changeByApi, getBody, requestApi, withQuery } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { usePages, useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, SecretDialog } from '../../parts/dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded, PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Copy, FactList, type Facts, Moment, Time } from '../../parts/text.tsx'
import { ClientDialog } from './client-dialog.tsx'

type Open = 'edit' | 'secret' | 'delete'

export function OauthClientPage({ id }: { id: string }) {
  const path = `/admin/oauth/clients/${encodeURIComponent(id)}` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const [open, setOpen] = useState<Open>()
  const [secret, setSecret] = useState<string>()
  const { data: client } = of
  const close = () => setOpen(undefined)
  const regenerate = async () => {
    const made = await changeByApi('POST', `${path}/regenerate_secret`, {})
    setSecret(made.client_secret)
  }
  const remove = async () => {
    await changeByApi('DELETE', path)
    showMessage('The client was deleted')
    navigate('/clients')
  }
  return (
    <Page
      title={client?.client_name || id}
      above={{ path: '/clients', title: 'OAuth clients' }}
      about={<Copy text={id} label="the client id" />}
      actions={client && <Actions client={client} onOpen={setOpen} />}
    >
      <Loaded of={of}>
        {(loaded) => (
          <Card title="Settings">
            <FactList facts={toFacts(loaded)} />
          </Card>
        )}
      </Loaded>
      {may('GET /admin/oauth/clients/{client_id}/consents') && <Consents clientId={id} />}
      {open === 'edit' && client && (
        <ClientDialog client={client} onDone={of.set} onClose={close} />
      )}
      {open === 'secret' && <ReplaceSecret onConfirm={regenerate} onClose={close} />}
      {open === 'delete' && (
        <DeleteClient name={client?.client_name} onConfirm={remove} onClose={close} />
      )}
      {secret && (
        <SecretDialog title="Client secret" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Page>
  )
}

interface DecisionProps {
  onConfirm: () => Promise<void>
  onClose: () => void
}

function ReplaceSecret(decision: DecisionProps) {
  return (
    <Confirm title="Replace the client secret" submit="Replace secret" danger {...decision}>
      <p>The old secret becomes invalid immediately, and all sessions of the client are revoked.</p>
    </Confirm>
  )
}

function DeleteClient({ name, ...decision }: DecisionProps & { name: string | undefined }) {
  return (
    <Confirm
      title="Delete the client"
      submit="Delete client"
      danger
      typed={name || 'delete'}
      {...decision}
    >
      <p>Its sessions are revoked and its consents deleted. This cannot be undone.</p>
    </Confirm>
  )
}

function Actions({ client, onOpen }: { client: OauthClient; onOpen: (open: Open) => void }) {
  return (
    <>
      <Button
        disabled={!may('PUT /admin/oauth/clients/{client_id}')}
        onClick={() => onOpen('edit')}
      >
        Edit
      </Button>
      {client.client_type === 'confidential' && (
        <Button
          disabled={!may('POST /admin/oauth/clients/{client_id}/regenerate_secret')}
          onClick={() => onOpen('secret')}
        >
          Replace secret
        </Button>
      )}
      <Button
        kind="danger"
        disabled={!may('DELETE /admin/oauth/clients/{client_id}')}
        onClick={() => onOpen('delete')}
      >
        Delete
      </Button>
    </>
  )
}

function toFacts(client: OauthClient): Facts {
  const list = (items: readonly string[] | undefined) =>
    items && items.length > 0 && items.map((item) => <div key={item}>{item}</div>)
  return [
    ['Type', formatName(client.client_type)],
    ['Authentication', client.token_endpoint_auth_method],
    ['Redirect URIs', list(client.redirect_uris)],
    ['Grants', list(client.grant_types)],
    ['Scopes', client.scope || 'All'],
    ['Resources', list(client.resources)],
    ['Website', client.client_uri],
    ['Contacts', list(client.contacts)],
    ['Created', <Moment key="created" at={client.created_at} />],
    ['Changed', <Moment key="changed" at={client.updated_at} />],
  ]
}

interface Consent {
  user_id: string
  email: string | null
  scopes: string[]
  granted_at: string
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
function Consents({ clientId }: { clientId: string }) {
  const base = `/admin/oauth/clients/${encodeURIComponent(clientId)}/consents` as const
  const pages = usePages(async (cursor, signal) => {
    const found = await requestApi(withQuery(base, { cursor, limit: 50 }), { signal })
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
