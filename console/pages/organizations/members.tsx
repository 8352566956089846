import { useState } from 'preact/hooks'

import { changeByApi, getBody, withQuery } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatName } from '../../core/format.ts'
import { type LoadedPages, type Resource, usePages } from '../../core/resource.ts'
import { query } from '../../core/router.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { FilterField } from '../../parts/filters.tsx'
import { PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import { MemberDialog } from './member-dialog.tsx'
import {
  getOrganizationPath,
  mayIn,
  roleOptions,
  type ShownMember,
  type ShownRole,
  useRoles,
} from './organization.ts'

type MembersPath = `/admin/organizations/${string}/members`

type Roles = Resource<{ roles: ShownRole[] }>

const getMemberName = ({ email, phone, name, user_id }: ShownMember) =>
  email || phone || name || user_id

function AddButton({ onClick }: { onClick: () => void }) {
  return (
    <Button disabled={!mayIn('POST', '/members')} onClick={onClick}>
      Add member
    </Button>
  )
}

/** The members that the search in the URL finds. */
function useMembers(path: MembersPath): LoadedPages<ShownMember> {
  const search = query.value.get('q') ?? undefined
  return usePages(async (cursor, signal) => {
    const url = withQuery(path, { search, cursor, limit: 50 })
    const { members, next } = await getBody(url, signal)
    return { items: members, next: next ?? undefined }
  }, `${path} ${search}`)
}

export function OrganizationMembers({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/members` as const
  const pages = useMembers(path)
  const roles = useRoles(id)
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<ShownMember>()
  const remove = async (member: ShownMember) => {
    await changeByApi('DELETE', `${path}/${member.user_id}`)
    showMessage(`${getMemberName(member)} was removed`)
    pages.reload()
  }
  return (
    <>
      <search class="columns narrow">
        <FilterField name="q" label="Search" placeholder="Part of the email or name" />
      </search>
      <Card title="Members" flush actions={<AddButton onClick={() => setAdding(true)} />}>
        <PagedRows
          pages={pages}
          empty={{ title: 'No members', text: 'Add a user, or invite an email address.' }}
        >
          {(rows) => (
            <Table
              label="Members"
              columns={createColumns(path, roles, {
                onChange: pages.reload,
                onRemove: setRemoving,
              })}
              rows={rows}
              getKey={({ user_id }) => user_id}
            />
          )}
        </PagedRows>
      </Card>
      {isAdding && (
        <MemberDialog
          id={id}
          roles={roleOptions(roles)}
          onDone={pages.reload}
          onClose={() => setAdding(false)}
        />
      )}
      {removing && (
        <RemoveMember
          name={getMemberName(removing)}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  )
}

interface RemoveMemberProps {
  name: string
  onConfirm: () => Promise<void>
  onClose: () => void
}

function RemoveMember({ name, ...decision }: RemoveMemberProps) {
  return (
    <Confirm title={`Remove ${name}`} submit="Remove member" danger {...decision}>
      <p>The account stays. Sessions of the user lose the organization.</p>
    </Confirm>
  )
}

interface Acts {
  onChange: () => void
  onRemove: (member: ShownMember) => void
}

const createColumns = (
  path: MembersPath,
  roles: Roles,
  { onChange, onRemove }: Acts,
): Column<ShownMember>[] => [
  {
    title: 'Member',
    kind: 'wrap',
    cell: (member) => <a href={pageUrl(`/users/${member.user_id}`)}>{getMemberName(member)}</a>,
  },
  {
    title: 'Role',
    cell: (member) => <RoleChoice path={path} member={member} roles={roles} onChange={onChange} />,
  },
  {
    title: 'State',
    cell: ({ status }) => (
      <Badge tone={status === 'active' ? 'good' : 'warn'}>{formatName(status)}</Badge>
    ),
  },
  { title: 'Joined by', cell: ({ joined_by }) => formatName(joined_by) },
  { title: 'Joined', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Actions',
    isUntitled: true,
    kind: 'end',
    cell: (member) => (
      <Button
        compact
        kind="danger"
        label={`Remove ${getMemberName(member)}`}
        disabled={!mayIn('DELETE', '/members/{user_id}')}
        onClick={() => onRemove(member)}
      >
        Remove
      </Button>
    ),
  },
]

interface RoleChoiceProps {
  path: MembersPath
  member: ShownMember
  roles: Roles
  onChange: () => void
}

/** Changes the role immediately; the message can undo it. */
function RoleChoice({ path, member, roles, onChange }: RoleChoiceProps) {
  const set = async (role: string) => {
    await changeByApi('PUT', `${path}/${member.user_id}`, { role }).finally(onChange)
  }
  const choose = async (role: string) => {
    await set(role)
    showMessage('The role was changed', () => set(member.role))
  }
  return (
    <select
      aria-label={`Role of ${getMemberName(member)}`}
      value={member.role}
      disabled={!mayIn('PUT', '/members/{user_id}')}
      onChange={(event) => choose(event.currentTarget.value).catch(showError)}
    >
      {roleOptions(roles, member.role).map(([value, text]) => (
        <option key={value} value={value} selected={value === member.role}>
          {text}
        </option>
      ))}
    </select>
  )
}
