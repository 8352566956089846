import { useState } from 'preact/hooks'

import { changeByApi, getBody, withQuery } from '../../core/api.ts'
import { usePages } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import { InviteMemberDialog } from './member-dialog.tsx'
import {
  getOrganizationPath,
  mayIn,
  roleOptions,
  type ShownInvitation,
  useRoles,
} from './organization.ts'

export function OrganizationInvitations({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/invitations` as const
  const pages = usePages(async (cursor, signal) => {
    const { invitations, next } = await getBody(withQuery(path, { cursor, limit: 50 }), signal)
    return { items: invitations, next: next ?? undefined }
  }, path)
  const roles = useRoles(id)
  const [isInviting, setInviting] = useState(false)
  const revoke = async ({ id: invitation, email }: ShownInvitation) => {
    await changeByApi('DELETE', `${path}/${invitation}`)
    showMessage(`The invitation of ${email} was revoked`)
    pages.reload()
  }
  return (
    <Card
      title="Open invitations"
      flush
      actions={
        <Button disabled={!mayIn('POST', '/invitations')} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <PagedRows
        pages={pages}
        empty={{ title: 'No open invitations', text: 'Accepted and expired ones are not listed.' }}
      >
        {(rows) => (
          <Table
            label="Invitations"
            columns={createColumns(revoke)}
            rows={rows}
            getKey={({ id }) => id}
          />
        )}
      </PagedRows>
      {isInviting && (
        <InviteMemberDialog
          id={id}
          roles={roleOptions(roles)}
          onDone={pages.reload}
          onClose={() => setInviting(false)}
        />
      )}
    </Card>
  )
}

const createColumns = (
  revoke: (invitation: ShownInvitation) => Promise<void>,
): Column<ShownInvitation>[] => [
  { title: 'Email', kind: 'wrap', cell: ({ email }) => email },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Sent', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    title: 'Actions',
    isUntitled: true,
    kind: 'end',
    cell: (invitation) => (
      <Button
        compact
        kind="danger"
        label={`Revoke the invitation of ${invitation.email}`}
        disabled={!mayIn('DELETE', '/invitations/{invitation_id}')}
        onClick={() => revoke(invitation)}
      >
        Revoke
      </Button>
    ),
  },
]
