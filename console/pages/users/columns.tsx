/** The columns of the user list, and the admin's choice of them. */
import { signal } from '@preact/signals'

import type { User } from '../../../schemas/user.ts'
import { pageUrl } from '../../core/base.ts'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import { getFullName, getProviders, getUserName, UserStatus } from './status.tsx'

const stored = 'postern-console-user-columns'

const columns = {
  user: {
    title: 'User',
    width: 260,
    cell: (user: User) => (
      <a href={pageUrl(`/users/${user.id}`)} title={getUserName(user)}>
        {getUserName(user)}
      </a>
    ),
  },
  name: { title: 'Name', width: 160, cell: getFullName },
  status: { title: 'Status', width: 120, cell: (user: User) => <UserStatus user={user} /> },
  providers: {
    title: 'Providers',
    width: 140,
    cell: (user: User) => getProviders(user).join(', '),
  },
  phone: { title: 'Phone', width: 140, cell: ({ phone }: User) => phone && `+${phone}` },
  role: { title: 'Role', width: 120, cell: ({ role }: User) => role },
  created: {
    title: 'Created',
    width: 120,
    cell: ({ created_at }: User) => <Time at={created_at} />,
  },
  seen: {
    title: 'Last sign-in',
    width: 120,
    cell: ({ last_sign_in_at }: User) => <Time at={last_sign_in_at} />,
  },
  id: { title: 'Id', width: 300, cell: ({ id }: User) => <code>{id}</code> },
} satisfies Record<string, Column<User>>

type ColumnName = keyof typeof columns
export const columnNames = Object.keys(columns) as ColumnName[]
export const titleOfColumn = (name: ColumnName): string => columns[name].title

const standard: ColumnName[] = ['user', 'name', 'status', 'providers', 'created', 'seen']

export const chosenColumnNames = signal<readonly ColumnName[]>(readChosen())

export function toggleColumn(name: ColumnName): void {
  const has = chosenColumnNames.value.includes(name)
  chosenColumnNames.value = columnNames.filter((each) =>
    each === name ? !has : chosenColumnNames.value.includes(each),
  )
  localStorage.setItem(stored, chosenColumnNames.value.join())
}

export const chosenColumns = (): Column<User>[] =>
  chosenColumnNames.value.map((name) => columns[name])

function readChosen(): ColumnName[] {
  const names = localStorage.getItem(stored)?.split(',') ?? standard
  return columnNames.filter((name) => name === 'user' || names.includes(name))
}
