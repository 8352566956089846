import { useState } from 'preact/hooks'

import type { Device } from '../../../schemas/device.ts'
import type { Passkey } from '../../../schemas/passkey.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/states.tsx'
import { getUserName } from '../users/status.tsx'
import type { TabProps } from './tab-props.ts'

/** Lists what is deleted with the account. */
export function DeleteDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const [keepsRow, setKeepsRow] = useState(false)
  const path = `/admin/users/${user.id}`
  const counts = useResource((signal) => countParts(path, signal), path)
  const remove = async () => {
    await changeByApi('DELETE', path, { should_soft_delete: keepsRow })
    showMessage(`${getUserName(user)} was deleted`)
    navigate('/users')
  }
  return (
    <Confirm
      title={`Delete ${getUserName(user)}`}
      submit="Delete user"
      danger
      typed={getUserName(user)}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>This cannot be undone. Deleted with the account:</p>
      <Loaded of={counts} lines={2}>
        {({ sessions, passkeys }) => (
          <ul>
            <li>{amount(user.identities?.length ?? 0, 'identity', 'identities')}</li>
            <li>{amount(user.factors?.length ?? 0, 'second factor', 'second factors')}</li>
            <li>{amount(passkeys, 'passkey', 'passkeys')}</li>
            <li>{amount(sessions, 'session', 'sessions')}</li>
          </ul>
        )}
      </Loaded>
      <label class="choice">
        <input
          type="checkbox"
          checked={keepsRow}
          onChange={(event) => setKeepsRow(event.currentTarget.checked)}
        />
        <span>
          Keep an anonymous row
          <span class="quiet small">
            The id stays for tables that reference it; all personal data is erased.
          </span>
        </span>
      </label>
    </Confirm>
  )
}

async function countParts(path: string, signal: AbortSignal) {
  const [{ sessions }, passkeys] = await Promise.all([
    getBody<{ sessions: Device[] }>(`${path}/sessions`, signal),
    getBody<Passkey[]>(`${path}/passkeys`, signal),
  ])
  return { sessions: sessions.length, passkeys: passkeys.length }
}

const amount = (count: number, one: string, many: string) =>
  `${count === 0 ? 'No' : count} ${count === 1 ? one : many}`
