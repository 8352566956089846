import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { has } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge } from '../../parts/text.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { getOrganizationPath, mayIn, type ShownConnection } from './organization.ts'

export function OrganizationConnections({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/connections`
  const of = useResource(
    (signal) => getBody<{ connections: ShownConnection[] }>(path, signal),
    path,
  )
  const [isAdding, setAdding] = useState(false)
  const [editing, setEditing] = useState<ShownConnection>()
  const [removing, setRemoving] = useState<ShownConnection>()
  const toggle = async ({ id: connection, name, enabled }: ShownConnection) => {
    await changeByApi('PUT', `${path}/${connection}`, { enabled: !enabled })
    showMessage(`${name} is ${enabled ? 'off' : 'on'}`)
    of.reload()
  }
  const remove = async (connection: ShownConnection) => {
    await changeByApi('DELETE', `${path}/${connection.id}`)
    showMessage(`${connection.name} was removed`)
    of.reload()
  }
  return (
    <Card
      title="Connections"
      flush
      actions={
        <Button
          disabled={!mayIn('POST', '/connections') || !(has('saml') || has('custom_providers'))}
          onClick={() => setAdding(true)}
        >
          Bind provider
        </Button>
      }
    >
      <Loaded of={of}>
        {({ connections }) =>
          connections.length === 0 ? (
            <Empty title="No connections">Users who sign in through one become members.</Empty>
          ) : (
            <Table
              label="Connections"
              columns={createColumns(toggle, setEditing, setRemoving)}
              rows={connections}
              getKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {isAdding && <ConnectionDialog id={id} onDone={of.reload} onClose={() => setAdding(false)} />}
      {editing && (
        <ConnectionDialog
          id={id}
          connection={editing}
          onDone={of.reload}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}`}
          submit="Remove connection"
          danger
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        >
          <p>Users of the provider no longer join. Members stay.</p>
        </Confirm>
      )}
    </Card>
  )
}

const createColumns = (
  toggle: (connection: ShownConnection) => Promise<void>,
  onEdit: (connection: ShownConnection) => void,
  onRemove: (connection: ShownConnection) => void,
): Column<ShownConnection>[] => [
  { title: 'Connection', kind: 'wrap', cell: ({ name }) => name },
  {
    title: 'State',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Badge>
    ),
  },
  {
    title: 'Provider',
    kind: 'wrap',
    cell: ({ custom_provider, sso_provider_id }) => (
      <code>{custom_provider ?? sso_provider_id ?? 'provisioning only'}</code>
    ),
  },
  { title: 'Default role', cell: ({ default_role }) => default_role },
  { title: 'Role rules', kind: 'end', cell: ({ role_mapping }) => role_mapping.length },
  {
    title: 'Actions',
    isUntitled: true,
    kind: 'end',
    cell: (connection) => (
      <span class="row">
        <Button
          compact
          label={`Edit ${connection.name}`}
          disabled={!mayIn('PUT', '/connections/{connection_id}')}
          onClick={() => onEdit(connection)}
        >
          Edit
        </Button>
        <Button
          compact
          label={`Turn ${connection.enabled ? 'off' : 'on'} ${connection.name}`}
          disabled={!mayIn('PUT', '/connections/{connection_id}')}
          onClick={() => toggle(connection)}
        >
          {connection.enabled ? 'Turn off' : 'Turn on'}
        </Button>
        <Button
          compact
          kind="danger"
          label={`Remove ${connection.name}`}
          disabled={!mayIn('DELETE', '/connections/{connection_id}')}
          onClick={() => onRemove(connection)}
        >
          Remove
        </Button>
      </span>
    ),
  },
]
