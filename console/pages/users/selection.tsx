/** The selected users of the list. */
import { computed, signal } from '@preact/signals'

import type { User } from '../../../schemas/user.ts'
import type { Column } from '../../parts/table.tsx'
import { getUserName } from './status.tsx'

export const selected = signal<ReadonlyMap<string, User>>(new Map())
export const selectedUsers = computed(() => [...selected.value.values()])

export function clearSelection(): void {
  selected.value = new Map()
}

function toggle(users: readonly User[], isTicked: boolean): void {
  const next = new Map(selected.value)
  for (const user of users) {
    if (isTicked) next.set(user.id, user)
    else next.delete(user.id)
  }
  selected.value = next
}

/** The checkbox column; its header selects all loaded rows. */
export function selectionColumn(rows: readonly User[]): Column<User> {
  const areAllTicked = rows.length > 0 && rows.every(({ id }) => selected.value.has(id))
  return {
    title: 'Selected',
    width: 40,
    head: (
      <input
        type="checkbox"
        aria-label={`Select all ${rows.length} loaded users`}
        checked={areAllTicked}
        onChange={(event) => toggle(rows, event.currentTarget.checked)}
      />
    ),
    cell: (user) => (
      <input
        type="checkbox"
        aria-label={`Select ${getUserName(user)}`}
        checked={selected.value.has(user.id)}
        onChange={(event) => toggle([user], event.currentTarget.checked)}
      />
    ),
  }
}
