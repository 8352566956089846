import { useState } from 'preact/hooks'

import type { Passkey } from '../../../schemas/passkey.ts'
import type { Factor } from '../../../schemas/user.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

interface Removal {
  path: `/admin/users/${string}/${'factors' | 'passkeys'}/${string}`
  title: string
  what: string
}

export function Security({ user }: TabProps) {
  const path = `/admin/users/${user.id}` as const
  const [removal, setRemoval] = useState<Removal>()
  const factors = useResource((signal) => getBody(`${path}/factors`, signal), path)
  const passkeys = useResource((signal) => getBody(`${path}/passkeys`, signal), path)
  const codes = useResource((signal) => getBody(`${path}/factors/recovery_codes`, signal), path)
  const reload = () => {
    for (const each of [factors, passkeys, codes]) each.reload()
  }
  return (
    <>
      <Card title="Second factors" flush>
        <Loaded of={factors} lines={3}>
          {(rows) => <Factors rows={rows} path={path} onRemove={setRemoval} />}
        </Loaded>
      </Card>
      <Card title="Passkeys" flush>
        <Loaded of={passkeys} lines={3}>
          {(rows) => <Passkeys rows={rows} path={path} onRemove={setRemoval} />}
        </Loaded>
      </Card>
      <Card title="Recovery codes">
        <Loaded of={codes} lines={1}>
          {({ remaining }) => <Codes remaining={remaining} path={path} onRemove={setRemoval} />}
        </Loaded>
      </Card>
      {removal && (
        <RemovalDialog {...removal} onDone={reload} onClose={() => setRemoval(undefined)} />
      )}
    </>
  )
}

interface RowsProps<T> {
  rows: T[]
  path: `/admin/users/${string}`
  onRemove: (removal: Removal) => void
}

function Factors({ rows, path, onRemove }: RowsProps<Factor>) {
  if (rows.length === 0) return <Empty title="No second factors" />
  const columns: Column<Factor>[] = [
    { title: 'Type', cell: ({ factor_type }) => formatName(factor_type) },
    { title: 'Name', kind: 'wrap', cell: ({ friendly_name, phone }) => friendly_name || phone },
    {
      title: 'Status',
      cell: ({ status }) => (
        <Badge tone={status === 'verified' ? 'good' : 'warn'}>{formatName(status)}</Badge>
      ),
    },
    { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: ({ id, friendly_name, factor_type }) => (
        <RemoveButton
          label={`Remove ${friendly_name || formatName(factor_type)}`}
          endpoint="DELETE /admin/users/{user_id}/factors/{factor_id}"
          onClick={() =>
            onRemove({
              path: `${path}/factors/${id}`,
              title: 'Remove second factor',
              what: `${friendly_name || formatName(factor_type)} is removed. Sessions that it verified return to aal1.`,
            })
          }
        />
      ),
    },
  ]
  return <Table label="Second factors" columns={columns} rows={rows} getKey={({ id }) => id} />
}

function Passkeys({ rows, path, onRemove }: RowsProps<Passkey>) {
  if (rows.length === 0) return <Empty title="No passkeys" />
  const columns: Column<Passkey>[] = [
    { title: 'Name', kind: 'wrap', cell: ({ friendly_name }) => friendly_name ?? 'Passkey' },
    { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: ({ id, friendly_name }) => (
        <RemoveButton
          label={`Remove ${friendly_name ?? 'the passkey'}`}
          endpoint="DELETE /admin/users/{user_id}/passkeys/{passkey_id}"
          onClick={() =>
            onRemove({
              path: `${path}/passkeys/${id}`,
              title: 'Remove passkey',
              what: `${friendly_name ?? 'The passkey'} can no longer be used to sign in.`,
            })
          }
        />
      ),
    },
  ]
  return <Table label="Passkeys" columns={columns} rows={rows} getKey={({ id }) => id} />
}

function Codes({
  remaining,
  path,
  onRemove,
}: Omit<RowsProps<never>, 'rows'> & { remaining: number }) {
  if (remaining === 0) return <p class="quiet">The user has no recovery codes.</p>
  return (
    <div class="row spread">
      <span>{remaining} left</span>
      <RemoveButton
        label="Remove the recovery codes"
        endpoint="DELETE /admin/users/{user_id}/factors/recovery_codes"
        onClick={() =>
          onRemove({
            path: `${path}/factors/recovery_codes`,
            title: 'Remove recovery codes',
            what: 'All recovery codes of the user become invalid.',
          })
        }
      />
    </div>
  )
}

interface RemoveButtonProps {
  label: string
  endpoint: string
  onClick: () => void
}

function RemoveButton({ label, endpoint, onClick }: RemoveButtonProps) {
  return (
    <Button compact kind="danger" label={label} disabled={!may(endpoint)} onClick={onClick}>
      Remove
    </Button>
  )
}

interface RemovalDialogProps extends Removal {
  onDone: () => void
  onClose: () => void
}

function RemovalDialog({ path, title, what, onDone, onClose }: RemovalDialogProps) {
  const remove = async () => {
    await changeByApi('DELETE', path)
    showMessage(`${title}: done`)
    onDone()
  }
  return (
    <Confirm title={title} submit="Remove" danger onConfirm={remove} onClose={onClose}>
      <p>{what} This cannot be undone.</p>
    </Confirm>
  )
}
