/** Organizations in the admin API: their types, paths and lists. */
import type { Static } from '@sinclair/typebox'

import type * as member from '../../../schemas/organizations/member.ts'
import type * as organization from '../../../schemas/organizations/organization.ts'
import type * as settings from '../../../schemas/organizations/settings.ts'
import { callApi, get, withQuery } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { type Pages, usePages } from '../../core/pages.ts'
import { type Resource, useResource } from '../../core/resource.ts'

export type Organization = Static<typeof organization.Organization>
export type ListedOrganization = Static<typeof organization.AdminOrganization>
export type Member = Static<typeof member.Member>
export type Invitation = Static<typeof member.Invitation>
export type Domain = Static<typeof settings.Domain>
export type Connection = Static<typeof settings.Connection>
export type Group = Static<typeof settings.Group>
export type Role = Static<typeof settings.Role>
export type AuditEntry = Static<typeof settings.AuditEntries>['entries'][number]

export const root = '/admin/organizations'

export const pathOf = (id: string) => `${root}/${encodeURIComponent(id)}`

/** Whether the admin may call an endpoint of one organization: `mayIn('POST', '/members')`. */
export const mayIn = (method: string, rest = '') =>
  may(`${method} ${root}/{organization_id}${rest}`)

/** A list with a cursor, whose items have the name of the list. */
export function useList<T>(
  path: string,
  name: string,
  filters: Record<string, string | undefined> = {},
): Pages<T> {
  return usePages<T>(async (cursor, signal) => {
    const wanted = withQuery(path, { ...filters, cursor, limit: 50 })
    const { body } = await callApi<Record<string, T[]> & { next: string | null }>(wanted, {
      signal,
    })
    return { items: body[name] ?? [], next: body.next ?? undefined }
  }, path + JSON.stringify(filters))
}

/** The roles that members can have. */
export function useRoles(id: string): Resource<{ roles: Role[] }> {
  const path = `${pathOf(id)}/roles`
  return useResource((signal) => get<{ roles: Role[] }>(path, signal), path)
}

export const roleOptions = (of: Resource<{ roles: Role[] }>, current = 'member') => {
  const names = of.data?.roles.map(({ name }) => name) ?? []
  return [...new Set([...names, current])].map((name) => [name, name] as const)
}
