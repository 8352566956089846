import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { currentImpersonation } from '../../core/impersonation.ts'
import { has, may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Copy } from '../../parts/text.tsx'
import { banDurations } from '../users/ban-durations.ts'
import { getStatus, getUserName } from '../users/status.tsx'
import type { TabProps } from './tab-props.ts'

type Open = 'link' | 'ban' | 'impersonate' | 'delete'

/** Actions on the account. */
export function UserMenu(props: TabProps) {
  const { user, of } = props
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const { text: status } = getStatus(user)
  const isBlocked = status === 'Banned' || status === 'Deactivated'
  const mayChange = may('PUT /admin/users/{user_id}')
  const unban = async () => {
    of.set(await changeByApi('PUT', `/admin/users/${user.id}`, { ban_duration: 'none' }))
    showMessage(status === 'Banned' ? 'The ban was lifted' : 'The user is active again')
  }
  return (
    <>
      <Button
        disabled={!may('POST /admin/users/{user_id}/send_link')}
        onClick={() => setOpen('link')}
      >
        Send link
      </Button>
      <Menu label="Actions">
        <button
          type="button"
          disabled={!mayChange}
          onClick={() => (isBlocked ? unban().catch(showError) : setOpen('ban'))}
        >
          {isBlocked ? (status === 'Banned' ? 'Lift the ban' : 'Activate') : 'Ban'}
        </button>
        <button
          type="button"
          disabled={!has('impersonation') || !may('POST /admin/users/{user_id}/impersonate')}
          title={has('impersonation') ? '' : 'Off: AUTH_ADMIN_IMPERSONATION_ENABLED'}
          onClick={() => setOpen('impersonate')}
        >
          Impersonate
        </button>
        <button
          type="button"
          class="danger"
          disabled={!may('DELETE /admin/users/{user_id}')}
          onClick={() => setOpen('delete')}
        >
          Delete
        </button>
      </Menu>
      {open === 'link' && <LinkDialog {...props} onClose={close} />}
      {open === 'ban' && <BanDialog {...props} onClose={close} />}
      {open === 'impersonate' && <ImpersonateDialog {...props} onClose={close} />}
      {open === 'delete' && <DeleteDialog {...props} onClose={close} />}
    </>
  )
}

function BanDialog({ user, of, onClose }: TabProps & { onClose: () => void }) {
  const set = async (ban_duration: string) =>
    of.set(await changeByApi('PUT', `/admin/users/${user.id}`, { ban_duration }))
  const ban = async ({ duration = '' }: FormFields) => {
    await set(duration)
    showMessage('The user is banned', () => set('none'))
    onClose()
  }
  return (
    <Dialog title={`Ban ${getUserName(user)}`} onClose={onClose}>
      <Form submit="Ban user" danger onSubmit={ban} onCancel={onClose}>
        <p>The user cannot sign in or use a session until the ban ends.</p>
        <SelectField name="duration" label="Duration" value="24h" options={banDurations} />
      </Form>
    </Dialog>
  )
}

function ImpersonateDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const start = async ({ reason }: FormFields) => {
    const path = `/admin/users/${user.id}/impersonate` as const
    const session = await changeByApi('POST', path, { reason })
    currentImpersonation.value = {
      name: getUserName(user),
      userId: user.id,
      accessToken: session.access_token,
      refreshToken: session.refresh_token,
      expiresAt: session.expires_at * 1000,
    }
    onClose()
  }
  return (
    <Dialog title={`Impersonate ${getUserName(user)}`} onClose={onClose}>
      <Form submit="Open a session" danger onSubmit={start} onCancel={onClose}>
        <p>
          This creates a short session of the user. It appears in the device list of the user, and
          the audit log records your name and the reason.
        </p>
        <TextField name="reason" label="Reason" required autoFocus />
      </Form>
    </Dialog>
  )
}

const types = [
  ['magiclink', 'Sign-in link'],
  ['recovery', 'Password recovery'],
  ['confirmation', 'Email confirmation'],
  ['invite', 'Invitation'],
] as const

/** Emails a link, or creates one for the admin to deliver. */
function LinkDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const [type, setType] = useState('magiclink')
  const [link, setLink] = useState<string>()
  const send = async ({ redirect_to }: FormFields) => {
    const body = { type, ...(redirect_to && { redirect_to }) }
    await changeByApi('POST', `/admin/users/${user.id}/send_link`, body)
    showMessage(`The link was sent to ${user.email}`)
    onClose()
  }
  const make = async () => {
    const body = { type, email: user.email }
    const made = await changeByApi('POST', '/admin/generate_link', body)
    setLink(made.action_link)
  }
  if (!user.email) {
    return (
      <Dialog title="Send a link" onClose={onClose}>
        <p>This user has no email address. Add one first.</p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Send a link" onClose={onClose}>
      <Form submit={`Send to ${user.email}`} onSubmit={send} onCancel={onClose}>
        <SelectField name="type" label="Kind" value={type} options={types} onInput={setType} />
        <TextField
          name="redirect_to"
          type="url"
          label="Redirect target"
          hint="A URL allowed by AUTH_SITE_URL or AUTH_URI_ALLOW_LIST; empty for the site"
        />
        {link && (
          <div class="secret" role="status">
            <span>Anyone with this link can sign in as the user. It works once.</span>
            <Copy text={link} label="the link" />
          </div>
        )}
        {(type === 'magiclink' || type === 'recovery') && (
          <Button kind="quiet" disabled={!may('POST /admin/generate_link')} onClick={make}>
            Create a link to deliver yourself
          </Button>
        )}
      </Form>
    </Dialog>
  )
}

/** Lists what is deleted with the account. */
function DeleteDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const [keepsRow, setKeepsRow] = useState(false)
  const path = `/admin/users/${user.id}` as const
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

async function countParts(path: `/admin/users/${string}`, signal: AbortSignal) {
  const [{ sessions }, passkeys] = await Promise.all([
    getBody(`${path}/sessions`, signal),
    getBody(`${path}/passkeys`, signal),
  ])
  return { sessions: sessions.length, passkeys: passkeys.length }
}

const amount = (count: number, one: string, many: string) =>
  `${count === 0 ? 'No' : count} ${count === 1 ? one : many}`
