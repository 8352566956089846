import { useState } from 'preact/hooks'

import type { SigningKey } from '../../../schemas/signing-key.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time, type Tone } from '../../parts/text.tsx'

const tones: Record<SigningKey['state'], Tone> = {
  standby: 'link',
  current: 'good',
  previous: 'plain',
  revoked: 'bad',
}

type Open = { action: 'rotate' } | { action: 'revoke'; key: SigningKey }

export function KeysPage() {
  const of = useResource((signal) => getBody('/admin/keys', signal), 'all')
  const [open, setOpen] = useState<Open>()
  const mayChange = may('POST /admin/keys')
  const done = (keys: Keys) => {
    of.set(keys)
    setOpen(undefined)
  }
  const close = () => setOpen(undefined)
  return (
    <Page
      title="Signing keys"
      about="The keys that sign access tokens. Public keys are at /.well-known/jwks.json."
      actions={
        <Button kind="primary" disabled={!mayChange} onClick={() => setOpen({ action: 'rotate' })}>
          Rotate
        </Button>
      }
    >
      <Card title="Keys" flush>
        <Loaded of={of}>
          {({ keys }) => (
            <KeyTable
              keys={keys.toReversed()}
              mayChange={mayChange}
              onRevoke={(key) => setOpen({ action: 'revoke', key })}
            />
          )}
        </Loaded>
      </Card>
      {open?.action === 'rotate' && <RotateDialog onDone={done} onClose={close} />}
      {open?.action === 'revoke' && <RevokeDialog of={open.key} onDone={done} onClose={close} />}
    </Page>
  )
}

interface KeyTableProps {
  keys: SigningKey[]
  mayChange: boolean
  onRevoke: (key: SigningKey) => void
}

function KeyTable({ keys, mayChange, onRevoke }: KeyTableProps) {
  const columns: Column<SigningKey>[] = [
    { title: 'Key', kind: 'wrap', cell: ({ kid }) => <code>{kid}</code> },
    { title: 'Algorithm', cell: ({ alg }) => alg },
    { title: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{formatName(state)}</Badge> },
    { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Signs from', cell: ({ activates_at }) => <Time at={activates_at} /> },
    {
      title: 'Verifies until',
      cell: ({ retires_at, revoked_at }) => <Time at={revoked_at ?? retires_at} />,
    },
    {
      title: 'Service tokens',
      kind: 'end',
      cell: ({ pinned_by }) => pinned_by.length,
    },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (key) =>
        key.state !== 'revoked' && (
          <Button
            compact
            kind="danger"
            label={`Revoke the key ${key.kid}`}
            disabled={!mayChange}
            onClick={() => onRevoke(key)}
          >
            Revoke
          </Button>
        ),
    },
  ]
  return <Table label="Signing keys" columns={columns} rows={keys} getKey={({ kid }) => kid} />
}

interface KeyDialogProps {
  onDone: (keys: Keys) => void
  onClose: () => void
}

const algorithms = [
  ['', 'The configured one'],
  ['RS256', 'RS256'],
  ['ES256', 'ES256'],
  ['EdDSA', 'EdDSA'],
] as const

function RotateDialog({ onDone, onClose }: KeyDialogProps) {
  const rotate = async ({ alg }: FormFields) => {
    const body = { action: 'rotate', ...(alg && { alg }) }
    onDone(await changeByApi('POST', '/admin/keys', body))
    showMessage('A new signing key was created')
  }
  return (
    <Dialog title="Rotate the signing key" onClose={onClose}>
      <Form submit="Rotate" onSubmit={rotate} onCancel={onClose}>
        <p>
          A new key is published first and signs once every verifier knows it. The current key
          verifies until its last token has expired: sessions stay valid.
        </p>
        <SelectField name="alg" label="Algorithm" options={algorithms} />
      </Form>
    </Dialog>
  )
}

function RevokeDialog({ of, onDone, onClose }: KeyDialogProps & { of: SigningKey }) {
  const revoke = async () => {
    onDone(await changeByApi('POST', '/admin/keys', { action: 'revoke', kid: of.kid }))
    showMessage('The key was revoked')
  }
  return (
    <Confirm
      title="Revoke the signing key"
      submit="Revoke"
      danger
      typed="revoke"
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>
        Use this for a compromised key. Every token signed with <code>{of.kid}</code> is rejected
        immediately; sessions get new tokens at their next refresh. This cannot be undone.
      </p>
      {of.pinned_by.length > 0 && (
        <p class="note warn">
          Service tokens that become invalid: {of.pinned_by.map(({ role }) => role).join(', ')}.
        </p>
      )}
    </Confirm>
  )
}

/** GET and POST /admin/keys. */
interface Keys {
  keys: SigningKey[]
}
