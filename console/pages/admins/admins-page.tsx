import { useState } from 'preact/hooks'

import type { Admin, AdminInvitation } from '../../../schemas/console/admin.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog, SecretOnce } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'

const getAdminName = ({ email, phone, user_id }: Admin) => email ?? phone ?? user_id

export function AdminsPage() {
  const of = useResource((signal) => getBody('/admin/admins', signal), 'all')
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Admin>()
  const remove = async ({ user_id }: Admin) => {
    await changeByApi('DELETE', `/admin/admins/${user_id}`)
    showMessage('The admin was removed')
    of.reload()
  }
  return (
    <Page
      title="Admins"
      about="Users who may use the console and the admin API. Support reads, operators change, owners also manage keys, settings and admins."
      actions={
        <Button
          kind="primary"
          disabled={!may('POST /admin/admins')}
          onClick={() => setAdding(true)}
        >
          Add admin
        </Button>
      }
    >
      <Card title="Admins" flush>
        <Loaded of={of}>
          {({ admins }) => <Admins admins={admins} onRemove={setRemoving} onChange={of.reload} />}
        </Loaded>
      </Card>
      {isAdding && <AddDialog onDone={of.reload} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Remove ${getAdminName(removing)}`}
          submit="Remove admin"
          danger
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        >
          <p>The account stays, but can no longer use the console.</p>
        </Confirm>
      )}
    </Page>
  )
}

interface AdminsProps {
  admins: Admin[]
  onRemove: (admin: Admin) => void
  onChange: () => void
}

function Admins({ admins, onRemove, onChange }: AdminsProps) {
  if (admins.length === 0) {
    return (
      <Empty title="No admins yet">Service keys work without one. Add a user as the owner.</Empty>
    )
  }
  const columns: Column<Admin>[] = [
    {
      title: 'Admin',
      kind: 'wrap',
      cell: (admin) => <a href={pageUrl(`/users/${admin.user_id}`)}>{getAdminName(admin)}</a>,
    },
    { title: 'Role', cell: (admin) => <RoleChoice admin={admin} onChange={onChange} /> },
    {
      title: 'Second factor',
      cell: ({ has_factor }) => (
        <Badge tone={has_factor ? 'good' : 'warn'}>{has_factor ? 'Yes' : 'None'}</Badge>
      ),
    },
    { title: 'Last sign-in', cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
    { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (admin) => (
        <Button
          compact
          kind="danger"
          label={`Remove ${getAdminName(admin)}`}
          disabled={!may('DELETE /admin/admins/{user_id}')}
          onClick={() => onRemove(admin)}
        >
          Remove
        </Button>
      ),
    },
  ]
  return <Table label="Admins" columns={columns} rows={admins} getKey={({ user_id }) => user_id} />
}

function AddDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const [invitation, setInvitation] = useState<AdminInvitation>()
  const add = async ({ email, role }: FormFields) => {
    const added = await changeByApi('POST', '/admin/admins', {
      email,
      role,
    })
    if ('link' in added) return setInvitation(added)
    showMessage(`${email} is an admin now`)
    onDone()
    onClose()
  }
  return (
    <Dialog title={invitation ? `Invite ${invitation.email}` : 'Add an admin'} onClose={onClose}>
      {invitation ? (
        <Invitation {...invitation} onClose={onClose} />
      ) : (
        <Form submit="Add admin" onSubmit={add} onCancel={onClose}>
          <TextField
            name="email"
            type="email"
            label="Email"
            hint="Without an account with this confirmed address, you get a link to send"
            required
            autoFocus
          />
          <SelectField name="role" label="Role" value="support" options={roles} />
        </Form>
      )}
    </Dialog>
  )
}

function Invitation({ email, role, link, onClose }: AdminInvitation & { onClose: () => void }) {
  return (
    <>
      <p>
        No user has confirmed this address yet. Send the link to {email}: it sets a password and
        gives the role {role}. It works once, within 24 hours.
      </p>
      <SecretOnce text={link} label="the link" onClose={onClose} />
    </>
  )
}

const roles = [
  ['support', 'Support'],
  ['operator', 'Operator'],
  ['owner', 'Owner'],
] as const

/** Changes the role immediately; the message can undo it. */
function RoleChoice({ admin, onChange }: { admin: Admin; onChange: () => void }) {
  const set = async (role: string) => {
    await changeByApi('PUT', `/admin/admins/${admin.user_id}`, { role }).finally(onChange)
  }
  const choose = async (role: string) => {
    await set(role)
    showMessage('The role was changed', () => set(admin.role))
  }
  return (
    <select
      aria-label={`Role of ${admin.email ?? admin.user_id}`}
      value={admin.role}
      disabled={!may('PUT /admin/admins/{user_id}')}
      onChange={(event) => choose(event.currentTarget.value).catch(showError)}
    >
      {roles.map(([value, text]) => (
        <option key={value} value={value} selected={value === admin.role}>
          {text}
        </option>
      ))}
    </select>
  )
}
