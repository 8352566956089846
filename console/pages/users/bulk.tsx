import { useState } from 'preact/hooks'

import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { banDurations } from './ban-durations.ts'
import { clearSelection, selectedUsers } from './selection.tsx'
import { getUserName } from './status.tsx'

type Action = 'ban' | 'unban' | 'delete'

const verbs = { ban: 'Ban', unban: 'Lift the ban of', delete: 'Delete' }
const done = { ban: 'banned', unban: 'no longer banned', delete: 'deleted' }

/** Actions on all selected users. */
export function BulkBar({ onDone }: { onDone: () => void }) {
  const [action, setAction] = useState<Action>()
  const users = selectedUsers.value
  if (users.length === 0) return null
  const mayChange = may('POST /admin/users/bulk')
  return (
    <section class="bulk" aria-label="Selected users">
      <strong>{users.length} selected</strong>
      <Button compact disabled={!mayChange} onClick={() => setAction('ban')}>
        Ban
      </Button>
      <Button compact disabled={!mayChange} onClick={() => setAction('unban')}>
        Lift ban
      </Button>
      <Button compact kind="danger" disabled={!mayChange} onClick={() => setAction('delete')}>
        Delete
      </Button>
      <Button compact kind="quiet" onClick={clearSelection}>
        Clear selection
      </Button>
      {action && <BulkDialog {...{ action, onDone }} onClose={() => setAction(undefined)} />}
    </section>
  )
}

interface BulkDialogProps {
  action: Action
  onDone: () => void
  onClose: () => void
}

function BulkDialog({ action, onDone, onClose }: BulkDialogProps) {
  const [duration, setDuration] = useState('24h')
  const users = selectedUsers.value
  const count = `${users.length} ${users.length === 1 ? 'user' : 'users'}`
  const title = `${verbs[action]} ${count}`
  const run = async () => {
    const ids = users.map(({ id }) => id)
    await runBulk(action, ids, duration)
    clearSelection()
    onDone()
  }
  return (
    <Confirm
      title={title}
      submit={title}
      danger={action !== 'unban'}
      onConfirm={run}
      onClose={onClose}
      {...(action !== 'unban' && { typed: `${action} ${count}` })}
    >
      {action === 'delete' && (
        <p>
          Their identities, second factors, passkeys and sessions are deleted too. This cannot be
          undone.
        </p>
      )}
      {action === 'ban' && <BanDuration value={duration} onInput={setDuration} />}
      <ul class="small">
        {users.slice(0, 5).map((user) => (
          <li key={user.id}>{getUserName(user)}</li>
        ))}
        {users.length > 5 && <li>and {users.length - 5} more</li>}
      </ul>
    </Confirm>
  )
}

async function runBulk(action: Action, ids: string[], duration: string): Promise<void> {
  const body = { action, ids, ...(action === 'ban' && { ban_duration: duration }) }
  const outcome = await changeByApi('POST', '/admin/users/bulk', body)
  const [failure] = outcome.failed
  const text = `${outcome.done.length} ${done[action]}`
  const rest = failure ? `, ${outcome.failed.length} failed: ${failure.msg}` : ''
  const isUndoable = action === 'ban' && outcome.done.length > 0
  showMessage(text + rest, isUndoable ? () => runBulk('unban', outcome.done, '') : undefined)
}

function BanDuration({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  return (
    <div class="field">
      <label for="bulk-duration">Duration</label>
      <select
        id="bulk-duration"
        value={value}
        onChange={(event) => onInput(event.currentTarget.value)}
      >
        {banDurations.map(([duration, text]) => (
          <option key={duration} value={duration} selected={duration === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
