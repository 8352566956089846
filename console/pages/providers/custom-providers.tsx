import { useState } from 'preact/hooks'

import type { CustomProvider } from '../../../schemas/custom-provider.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Copy, Time } from '../../parts/text.tsx'
import { CustomProviderDialog } from './custom-provider-dialog.tsx'

type Open =
  | { action: 'add' }
  | { action: 'edit'; provider: CustomProvider }
  | { action: 'delete'; provider: CustomProvider }

const getProviderPath = ({ identifier }: CustomProvider) =>
  `/admin/custom-providers/${encodeURIComponent(identifier)}` as const

function AddButton({ onClick }: { onClick: () => void }) {
  return (
    <Button compact disabled={!may('POST /admin/custom-providers')} onClick={onClick}>
      Add provider
    </Button>
  )
}

export function CustomProviders() {
  const of = useResource((signal) => getBody('/admin/custom-providers', signal), 'all')
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const remove = async (provider: CustomProvider) => {
    await changeByApi('DELETE', getProviderPath(provider))
    showMessage(`${provider.name} was deleted`)
    of.reload()
  }
  const setEnabled = async (provider: CustomProvider, enabled: boolean) => {
    await changeByApi('PUT', getProviderPath(provider), { enabled })
    of.reload()
  }
  const toggle = async (provider: CustomProvider) => {
    const { enabled, name } = provider
    await setEnabled(provider, !enabled)
    showMessage(`${name} is ${enabled ? 'off' : 'on'}`, () => setEnabled(provider, enabled))
  }
  const add = <AddButton onClick={() => setOpen({ action: 'add' })} />
  return (
    <Card title="Custom providers" flush actions={add}>
      <Loaded of={of}>
        {({ providers }) => (
          <ProviderTable providers={providers} columns={columnsFor(setOpen, toggle)} />
        )}
      </Loaded>
      {open && open.action !== 'delete' && (
        <CustomProviderDialog
          onDone={of.reload}
          onClose={close}
          {...(open.action === 'edit' && { provider: open.provider })}
        />
      )}
      {open?.action === 'delete' && (
        <DeleteProvider
          provider={open.provider}
          onConfirm={() => remove(open.provider)}
          onClose={close}
        />
      )}
    </Card>
  )
}

interface ProviderTableProps {
  providers: readonly CustomProvider[]
  columns: readonly Column<CustomProvider>[]
}

function ProviderTable({ providers, columns }: ProviderTableProps) {
  if (providers.length === 0) {
    return (
      <Empty title="No custom providers">
        Add any OAuth 2.0 or OpenID Connect provider; no restart is needed.
      </Empty>
    )
  }
  return (
    <Table label="Custom providers" columns={columns} rows={providers} getKey={({ id }) => id} />
  )
}

interface DeleteProviderProps {
  provider: CustomProvider
  onConfirm: () => Promise<void>
  onClose: () => void
}

function DeleteProvider({ provider: { identifier, name }, ...decision }: DeleteProviderProps) {
  return (
    <Confirm
      title={`Delete ${name}`}
      submit="Delete provider"
      danger
      typed={identifier}
      {...decision}
    >
      <p>Users who have no other way to sign in lose access. This cannot be undone.</p>
    </Confirm>
  )
}

function columnsFor(
  onOpen: (open: Open) => void,
  toggle: (provider: CustomProvider) => Promise<void>,
): Column<CustomProvider>[] {
  return [
    {
      title: 'Provider',
      kind: 'wrap',
      cell: ({ name, organization_bound }) => (
        <>
          {name} {organization_bound && <Badge>Of an organization</Badge>}
        </>
      ),
    },
    { title: 'Identifier', kind: 'wrap', cell: ({ identifier }) => <code>{identifier}</code> },
    { title: 'Type', cell: ({ provider_type }) => provider_type },
    {
      title: 'Callback URL',
      kind: 'wrap',
      cell: ({ name, callback_url, shared_callback }) => (
        <>
          <Copy text={callback_url} label={`the callback URL of ${name}`} />
          {shared_callback && <Badge tone="warn">Shared</Badge>}
        </>
      ),
    },
    {
      title: 'State',
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Badge>
      ),
    },
    { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (provider) => <ProviderActions provider={provider} onOpen={onOpen} toggle={toggle} />,
    },
  ]
}

interface ProviderActionsProps {
  provider: CustomProvider
  onOpen: (open: Open) => void
  toggle: (provider: CustomProvider) => Promise<void>
}

function ProviderActions({ provider, onOpen, toggle }: ProviderActionsProps) {
  const mayChange = may('PUT /admin/custom-providers/{identifier}')
  const turn = provider.enabled ? 'Turn off' : 'Turn on'
  return (
    <span class="row nowrap">
      <Button
        compact
        label={`${turn} ${provider.name}`}
        disabled={!mayChange}
        onClick={() => toggle(provider)}
      >
        {turn}
      </Button>
      <Button
        compact
        label={`Edit ${provider.name}`}
        disabled={!mayChange}
        onClick={() => onOpen({ action: 'edit', provider })}
      >
        Edit
      </Button>
      <Button
        compact
        kind="danger"
        label={`Delete ${provider.name}`}
        disabled={!may('DELETE /admin/custom-providers/{identifier}')}
        onClick={() => onOpen({ action: 'delete', provider })}
      >
        Delete
      </Button>
    </span>
  )
}
