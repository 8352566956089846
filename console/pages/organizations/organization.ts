/** Organizations in the admin API: their types, paths and lists, and the users who join them. */
import type { Static } from '@sinclair/typebox'

import type * as member from '../../../schemas/organizations/member.ts'
import type * as organization from '../../../schemas/organizations/organization.ts'
import type * as settings from '../../../schemas/organizations/settings.ts'
import { getBody, withQuery } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { type Resource, useResource } from '../../core/resource.ts'

export type ShownOrganization = Static<typeof organization.Organization>
export type ListedOrganization = Static<typeof organization.AdminOrganization>
export type ShownMember = Static<typeof member.Member>
export type ShownInvitation = Static<typeof member.Invitation>
export type ShownDomain = Static<typeof settings.Domain>
export type ShownConnection = Static<typeof settings.Connection>
export type ShownGroup = Static<typeof settings.Group>
export type ShownRole = Static<typeof settings.Role>
export type ShownOrganizationEntry = Static<typeof settings.AuditEntries>['entries'][number]

export const root = '/admin/organizations'

export const getOrganizationPath = (id: string) => `${root}/${encodeURIComponent(id)}` as const

/** Whether the admin may call an endpoint of one organization: `mayIn('POST', '/members')`. */
export const mayIn = (method: string, rest = '') =>
  may(`${method} ${root}/{organization_id}${rest}`)

/** The roles that members can have. */
export function useRoles(id: string): Resource<{ roles: ShownRole[] }> {
  const path = `${getOrganizationPath(id)}/roles` as const
  return useResource((signal) => getBody(path, signal), path)
}

export const roleOptions = (of: Resource<{ roles: ShownRole[] }>, current = 'member') => {
  const names = of.data?.roles.map(({ name }) => name) ?? []
  return [...new Set([...names, current])].map((name) => [name, name] as const)
}

/** The id of the user with this email address or id. Throws an Error with a sentence for the admin. */
export async function findUserId(text: string): Promise<string> {
  const searched = text.trim().toLowerCase()
  const path = withQuery('/admin/users', { q: searched, limit: 100 })
  const { users } = await getBody(path)
  const found = users.filter(({ id, email }) => [id, email?.toLowerCase()].includes(searched))
  const [user] = found
  if (!user) throw new Error(`There is no user ${text.trim()}.`)
  if (found.length > 1) throw new Error(`Several users have this address. Enter an id.`)
  return user.id
}
