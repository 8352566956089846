/** Every endpoint of an organization, with the permission that a member needs and a body that changes nothing. */

export interface Endpoint {
  permission: string
  body?: object
}

const none = '00000000-0000-4000-8000-000000000000'

/** Placeholders are replaced by ids that do not exist, or by those of another organization. */
export const unknownIds = {
  user_id: none,
  invitation_id: none,
  role: 'no-such-role',
  domain_id: none,
  connection_id: none,
  group_id: none,
}

export type Ids = typeof unknownIds

const at = '/organizations/{organization_id}'

export const endpoints: Record<string, Endpoint> = {
  [`GET ${at}`]: { permission: 'organization:read' },
  [`PUT ${at}`]: { permission: 'organization:write', body: {} },
  [`DELETE ${at}`]: { permission: 'organization:delete' },
  [`GET ${at}/members`]: { permission: 'members:read' },
  [`GET ${at}/members/{user_id}`]: { permission: 'members:read' },
  [`PUT ${at}/members/{user_id}`]: { permission: 'members:write', body: { role: 'member' } },
  [`DELETE ${at}/members/{user_id}`]: { permission: 'members:write' },
  [`GET ${at}/invitations`]: { permission: 'invitations:read' },
  [`POST ${at}/invitations`]: {
    permission: 'invitations:write',
    body: { email: 'a@example.com', role: 'no-such-role' },
  },
  [`DELETE ${at}/invitations/{invitation_id}`]: { permission: 'invitations:write' },
  [`GET ${at}/roles`]: { permission: 'roles:read' },
  [`POST ${at}/roles`]: { permission: 'roles:write', body: { name: 'Not a name' } },
  [`PUT ${at}/roles/{role}`]: { permission: 'roles:write', body: { description: 'x' } },
  [`DELETE ${at}/roles/{role}`]: { permission: 'roles:write' },
  [`GET ${at}/domains`]: { permission: 'domains:read' },
  [`POST ${at}/domains`]: { permission: 'domains:write', body: { domain: 'no domain' } },
  [`POST ${at}/domains/{domain_id}/send_code`]: {
    permission: 'domains:write',
    body: { address: 'a@example.com' },
  },
  [`POST ${at}/domains/{domain_id}/verify`]: {
    permission: 'domains:write',
    body: { code: '00000000' },
  },
  [`DELETE ${at}/domains/{domain_id}`]: { permission: 'domains:write' },
  [`GET ${at}/connections`]: { permission: 'connections:read' },
  [`PUT ${at}/connections/{connection_id}`]: {
    permission: 'connections:write',
    body: { name: 'Renamed' },
  },
  [`DELETE ${at}/connections/{connection_id}`]: { permission: 'connections:write' },
  [`GET ${at}/groups`]: { permission: 'groups:read' },
  [`PUT ${at}/groups/{group_id}`]: { permission: 'groups:write', body: { priority: 7 } },
  [`GET ${at}/audit`]: { permission: 'audit:read' },
}

/** Without a permission: for every member, or for users who are none yet. */
export const openEndpoints = [`POST ${at}/join`, `POST ${at}/leave`]

export function fillPath(name: string, organizationId: string, ids: Ids): string {
  return Object.entries(ids).reduce(
    (path, [key, value]) => path.replace(`{${key}}`, value),
    name.replace('{organization_id}', organizationId),
  )
}
