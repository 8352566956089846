import { useState } from 'preact/hooks'

import type { SsoProvider } from '../../../schemas/sso-provider.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { fromLines } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { AreaField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'

/** Identity providers of organizations (SAML 2.0). */
export function SsoProviders() {
  const of = useResource((signal) => getBody('/admin/sso/providers', signal), 'all')
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<SsoProvider>()
  const toggle = async ({ id, disabled }: SsoProvider) => {
    const set = async (next: boolean) => {
      await changeByApi('PUT', `/admin/sso/providers/${id}`, { disabled: next })
      of.reload()
    }
    await set(!disabled)
    showMessage(`The provider is ${disabled ? 'on' : 'off'}`, () => set(disabled ?? false))
  }
  const remove = async ({ id }: SsoProvider) => {
    await changeByApi('DELETE', `/admin/sso/providers/${id}`)
    showMessage('The provider was deleted')
    of.reload()
  }
  const add = (
    <Button compact disabled={!may('POST /admin/sso/providers')} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  )
  return (
    <Card title="Identity providers of organizations" flush actions={add}>
      <Loaded of={of}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No identity providers">
              Add one with its SAML metadata. Its domains determine which users sign in with it.
            </Empty>
          ) : (
            <Table
              label="Identity providers"
              columns={columnsFor(toggle, setRemoving)}
              rows={items}
              getKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {isAdding && <SsoDialog onDone={of.reload} onClose={() => setAdding(false)} />}
      {removing && (
        <DeleteProvider
          provider={removing}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Card>
  )
}

interface DeleteProviderProps {
  provider: SsoProvider
  onConfirm: () => Promise<void>
  onClose: () => void
}

function DeleteProvider({ provider, ...decision }: DeleteProviderProps) {
  return (
    <Confirm
      title="Delete the identity provider"
      submit="Delete provider"
      danger
      typed="delete"
      {...decision}
    >
      <p>
        Users of <code>{provider.saml.entity_id}</code> can no longer sign in with it.
      </p>
    </Confirm>
  )
}

function columnsFor(
  toggle: (provider: SsoProvider) => Promise<void>,
  onRemove: (provider: SsoProvider) => void,
): Column<SsoProvider>[] {
  return [
    { title: 'Entity id', kind: 'wrap', cell: ({ saml }) => <code>{saml.entity_id}</code> },
    {
      title: 'Domains',
      kind: 'wrap',
      cell: ({ domains }) => domains.map(({ domain }) => domain).join(', ') || '–',
    },
    {
      title: 'State',
      cell: ({ disabled }) => (
        <Badge tone={disabled ? 'plain' : 'good'}>{disabled ? 'Off' : 'On'}</Badge>
      ),
    },
    { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (provider) => (
        <ProviderActions provider={provider} toggle={toggle} onRemove={onRemove} />
      ),
    },
  ]
}

interface ProviderActionsProps {
  provider: SsoProvider
  toggle: (provider: SsoProvider) => Promise<void>
  onRemove: (provider: SsoProvider) => void
}

function ProviderActions({ provider, toggle, onRemove }: ProviderActionsProps) {
  const turn = provider.disabled ? 'Turn on' : 'Turn off'
  return (
    <span class="row nowrap">
      <Button
        compact
        label={`${turn} ${provider.saml.entity_id}`}
        disabled={!may('PUT /admin/sso/providers/{provider}')}
        onClick={() => toggle(provider)}
      >
        {turn}
      </Button>
      <Button
        compact
        kind="danger"
        label={`Delete ${provider.saml.entity_id}`}
        disabled={!may('DELETE /admin/sso/providers/{provider}')}
        onClick={() => onRemove(provider)}
      >
        Delete
      </Button>
    </span>
  )
}

function SsoDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const add = async ({ metadata_url, metadata_xml, domains }: FormFields) => {
    await changeByApi('POST', '/admin/sso/providers', {
      type: 'saml',
      ...(metadata_url ? { metadata_url } : { metadata_xml }),
      domains: fromLines(domains),
    })
    showMessage('The provider was added')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Add an identity provider" onClose={onClose}>
      <Form submit="Add provider" onSubmit={add} onCancel={onClose}>
        <TextField name="metadata_url" type="url" label="Metadata URL" autoFocus />
        <AreaField
          name="metadata_xml"
          label="Or the metadata"
          hint="XML; used without a URL"
          code
          rows={5}
        />
        <AreaField
          name="domains"
          label="Domains"
          hint="Of email addresses, one per line"
          code
          rows={3}
        />
      </Form>
    </Dialog>
  )
}
