import type { OauthGrant } from '../../../schemas/oauth/authorization.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { has, may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

export function Apps(props: TabProps) {
  if (!has('oauth_server')) {
    return (
      <Empty title="No applications">
        Other applications can sign users in once AUTH_OAUTH_SERVER_ENABLED is set.
      </Empty>
    )
  }
  return <Grants {...props} />
}

function Grants({ user }: TabProps) {
  const path = `/admin/users/${user.id}/grants` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const revoke = async ({ client }: OauthGrant) => {
    await changeByApi('DELETE', `${path}/${encodeURIComponent(client.id)}`)
    showMessage(`${client.name || 'The application'} lost its access`)
    of.reload()
  }
  const columns: Column<OauthGrant>[] = [
    { title: 'Application', kind: 'wrap', cell: ({ client }) => client.name || client.id },
    { title: 'Scopes', kind: 'wrap', cell: ({ scopes }) => scopes.join(', ') },
    { title: 'Granted', cell: ({ granted_at }) => <Time at={granted_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (grant) => (
        <Button
          compact
          kind="danger"
          label={`Revoke the access of ${grant.client.name || grant.client.id}`}
          disabled={!may('DELETE /admin/users/{user_id}/grants/{client_id}')}
          onClick={() => revoke(grant)}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <Card title="Connected apps" flush>
      <Loaded of={of}>
        {(grants) =>
          grants.length === 0 ? (
            <Empty title="No connected apps">
              Applications appear here when the user grants them access.
            </Empty>
          ) : (
            <Table
              label="Connected apps"
              columns={columns}
              rows={grants}
              getKey={({ client }) => client.id}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
