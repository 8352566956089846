import { useState } from 'preact/hooks'

import type { AdminUser } from '../../../schemas/admin-user.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { FactList, type Facts, Moment, Time } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

export function UserDetails({ user, of }: TabProps) {
  const [isEditing, setEditing] = useState(false)
  const edit = (
    <Button compact disabled={!may('PUT /admin/users/{user_id}')} onClick={() => setEditing(true)}>
      Edit
    </Button>
  )
  return (
    <>
      <div class="two">
        <Card title="Account" actions={edit}>
          <FactList facts={accountFacts(user)} />
        </Card>
        <Card title="Timeline">
          <FactList facts={timeFacts(user)} />
        </Card>
      </div>
      <Card title="Identities" flush>
        <Identities identities={user.identities ?? []} />
      </Card>
      {isEditing && <EditUserDialog user={user} of={of} onClose={() => setEditing(false)} />}
    </>
  )
}

function accountFacts(user: AdminUser): Facts {
  return [
    ['Email', user.email || 'None'],
    ['New email', user.new_email && `${user.new_email}, not confirmed yet`],
    ['Phone', user.phone ? `+${user.phone}` : 'None'],
    ['New phone', user.new_phone && `+${user.new_phone}, not confirmed yet`],
    ['Role', user.role || 'None'],
    ['Audience', user.aud],
    ['Anonymous', user.is_anonymous ? 'Yes' : undefined],
  ]
}

function timeFacts(user: AdminUser): Facts {
  const moment = (at: string | undefined) => at && <Moment at={at} />
  return [
    ['Created', moment(user.created_at)],
    ['Last sign-in', moment(user.last_sign_in_at) ?? 'Never'],
    ['Email confirmed', moment(user.email_confirmed_at)],
    ['Phone confirmed', moment(user.phone_confirmed_at)],
    ['Invited', moment(user.invited_at)],
    ['Confirmation sent', moment(user.confirmation_sent_at)],
    ['Recovery sent', moment(user.recovery_sent_at)],
    ['Changed', moment(user.updated_at)],
    ['Banned until', moment(user.banned_until)],
    ['Deactivated by SCIM', moment(user.deactivated_at)],
    ['Deleted', moment(user.deleted_at)],
  ]
}

const columns: Column<Identity>[] = [
  { title: 'Provider', cell: ({ provider }) => provider },
  { title: 'Email', kind: 'wrap', cell: ({ email }) => email ?? '–' },
  { title: 'Id at the provider', kind: 'wrap', cell: ({ id }) => <code>{id}</code> },
  { title: 'Linked', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Last sign-in', cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
]

function Identities({ identities }: { identities: Identity[] }) {
  if (identities.length === 0) {
    return <Empty title="No identities">This user cannot sign in until one is added.</Empty>
  }
  return (
    <Table
      label="Identities"
      columns={columns}
      rows={identities}
      getKey={({ identity_id }) => identity_id}
    />
  )
}

function EditUserDialog({ user, of, onClose }: TabProps & { onClose: () => void }) {
  const save = async (fields: FormFields) => {
    of.set(await changeByApi('PUT', `/admin/users/${user.id}`, toChanges(user, fields)))
    showMessage('The account was changed')
    onClose()
  }
  return (
    <Dialog title="Edit account" onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <TextField name="email" type="email" label="Email" value={user.email} />
        <CheckField
          name="email_confirm"
          label="The email is confirmed"
          checked={user.email_confirmed_at !== undefined}
          disabled={user.email_confirmed_at !== undefined}
        />
        <TextField name="phone" type="tel" label="Phone" value={user.phone} />
        <CheckField
          name="phone_confirm"
          label="The phone number is confirmed"
          checked={user.phone_confirmed_at !== undefined}
          disabled={user.phone_confirmed_at !== undefined}
        />
        <TextField
          name="role"
          label="Role"
          value={user.role}
          hint="Role claim of the access tokens. Changing it revokes all sessions of the user."
        />
        <TextField
          name="password"
          type="password"
          label="New password"
          hint="Leave empty to keep it. A new one revokes all sessions of the user."
        />
      </Form>
    </Dialog>
  )
}

/** Only changed fields, so that the API sees no other change. */
function toChanges(user: AdminUser, fields: FormFields) {
  const { email = '', phone = '', role = '', password } = fields
  const isNewlyConfirmed = (name: 'email' | 'phone') =>
    fields[`${name}_confirm`] === 'on' && user[`${name}_confirmed_at`] === undefined
  return {
    ...(email !== user.email && { email }),
    ...(phone.replace(/\D/g, '') !== user.phone && { phone }),
    ...(role !== user.role && { role }),
    ...(password && { password }),
    ...(isNewlyConfirmed('email') && { email_confirm: true }),
    ...(isNewlyConfirmed('phone') && { phone_confirm: true }),
  }
}
