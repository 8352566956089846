/** Converts the user list's state between URL and API. */
import type { User } from '../../../schemas/user.ts'
import { requestApi, withQuery } from '../../core/api.ts'
import type { ListPage } from '../../core/resource.ts'
import { query } from '../../core/router.ts'

export const states = [
  ['', 'All states'],
  ['confirmed', 'Confirmed'],
  ['unconfirmed', 'Unconfirmed'],
  ['invited', 'Invited'],
  ['banned', 'Banned'],
  ['anonymous', 'Anonymous'],
  ['sso', 'Single sign-on'],
  ['deleted', 'Deleted'],
] as const

export const orders = [
  ['', 'Newest first'],
  ['created_at asc', 'Oldest first'],
] as const

type Filters = Record<
  'q' | 'state' | 'provider' | 'created_after' | 'created_before' | 'sort',
  string | undefined
>

/** The URL has days; the API takes times. */
export function readFilters(): Filters {
  const of = (name: string) => query.value.get(name) ?? undefined
  return {
    q: of('q'),
    state: of('state'),
    provider: of('provider'),
    created_after: of('from') && `${of('from')}T00:00:00Z`,
    created_before: of('to') && `${of('to')}T23:59:59.999Z`,
    sort: of('sort'),
  }
}

export async function listUsers(
  filters: Filters,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<User>> {
  const path = withQuery('/admin/users', { ...filters, limit: 100, cursor })
  const { users, next_cursor } = (await requestApi(path, { signal })).body
  return { items: users, next: next_cursor }
}
