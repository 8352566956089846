import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { has } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge } from '../../parts/text.tsx'
import {
  getOrganizationPath,
  mayIn,
  roleOptions,
  type ShownConnection,
  useRoles,
} from './organization.ts'
import { type RoleMappingRule, RoleRules } from './role-rules.tsx'

function BindButton({ onClick }: { onClick: () => void }) {
  const isOffered = has('saml') || has('custom_providers')
  return (
    <Button disabled={!mayIn('POST', '/connections') || !isOffered} onClick={onClick}>
      Bind provider
    </Button>
  )
}

export function OrganizationConnections({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/connections` as const
  const of = useResource((signal) => getBody(path, signal), path)
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
    <Card title="Connections" flush actions={<BindButton onClick={() => setAdding(true)} />}>
      <Loaded of={of}>
        {({ connections }) => (
          <ConnectionTable
            connections={connections}
            columns={createColumns(toggle, setEditing, setRemoving)}
          />
        )}
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
        <RemoveConnection
          name={removing.name}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Card>
  )
}

interface ConnectionTableProps {
  connections: readonly ShownConnection[]
  columns: readonly Column<ShownConnection>[]
}

function ConnectionTable({ connections, columns }: ConnectionTableProps) {
  if (connections.length === 0) {
    return <Empty title="No connections">Users who sign in through one become members.</Empty>
  }
  return <Table label="Connections" columns={columns} rows={connections} getKey={({ id }) => id} />
}

interface RemoveConnectionProps {
  name: string
  onConfirm: () => Promise<void>
  onClose: () => void
}

function RemoveConnection({ name, ...decision }: RemoveConnectionProps) {
  return (
    <Confirm title={`Remove ${name}`} submit="Remove connection" danger {...decision}>
      <p>Users of the provider no longer join. Members stay.</p>
    </Confirm>
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

interface ConnectionDialogProps {
  id: string
  /** The connection to change; absent for a new one. */
  connection?: ShownConnection
  onDone: () => void
  onClose: () => void
}

function ConnectionDialog({ id, connection, onDone, onClose }: ConnectionDialogProps) {
  const roles = useRoles(id)
  const [rules, setRules] = useState<RoleMappingRule[]>(connection?.role_mapping ?? [])
  const path = `${getOrganizationPath(id)}/connections` as const
  const save = async ({ name, provider, default_role }: FormFields) => {
    const fields = { name, default_role, role_mapping: rules }
    if (connection) await changeByApi('PUT', `${path}/${connection.id}`, fields)
    else await changeByApi('POST', path, { ...fields, ...toProviderField(provider) })
    showMessage(connection ? `${name} was changed` : `${name} was added`)
    onDone()
    onClose()
  }
  const role = connection?.default_role ?? 'member'
  return (
    <Dialog title={connection ? `Edit ${connection.name}` : 'Bind a provider'} onClose={onClose}>
      <Form submit={connection ? 'Save' : 'Bind provider'} onSubmit={save} onCancel={onClose}>
        <TextField name="name" label="Name" value={connection?.name ?? ''} required autoFocus />
        {!connection && (
          <TextField
            name="provider"
            label="Provider"
            hint="The id of a SAML provider, or custom: and the name of a custom one"
            required
          />
        )}
        <SelectField
          name="default_role"
          label="Default role"
          value={role}
          options={roleOptions(roles, role)}
        />
        <RoleRules rules={rules} roles={roleOptions(roles, role)} onChange={setRules} />
      </Form>
    </Dialog>
  )
}

function toProviderField(provider = '') {
  return provider.startsWith('custom:')
    ? { custom_provider: provider }
    : { sso_provider_id: provider }
}
