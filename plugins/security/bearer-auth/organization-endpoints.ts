/** The organization endpoints of the admin API, with the minimum role that may call each. */
import type { AdminRole } from '../../../schemas/console/admin-role.ts'

const organization = '/admin/organizations/{organization_id}'
const role = '/admin/organization-roles/{role}'

const reads = [
  'GET /admin/organizations',
  `GET ${organization}`,
  ...['members', 'members/{user_id}', 'invitations', 'roles', 'domains', 'connections'].map(
    (list) => `GET ${organization}/${list}`,
  ),
  `GET ${organization}/groups`,
  `GET ${organization}/audit`,
  'GET /admin/organization-roles',
]

const writes = [
  'POST /admin/organizations',
  `PUT ${organization}`,
  `DELETE ${organization}`,
  `POST ${organization}/restore`,
  `POST ${organization}/members`,
  `PUT ${organization}/members/{user_id}`,
  `DELETE ${organization}/members/{user_id}`,
  `POST ${organization}/invitations`,
  `DELETE ${organization}/invitations/{invitation_id}`,
  `POST ${organization}/roles`,
  `PUT ${organization}/roles/{role}`,
  `DELETE ${organization}/roles/{role}`,
  `POST ${organization}/domains`,
  `POST ${organization}/domains/{domain_id}/send_code`,
  `POST ${organization}/domains/{domain_id}/verify`,
  `DELETE ${organization}/domains/{domain_id}`,
  `PUT ${organization}/connections/{connection_id}`,
  `DELETE ${organization}/connections/{connection_id}`,
  `PUT ${organization}/groups/{group_id}`,
  'POST /admin/organization-roles',
  `PUT ${role}`,
  `DELETE ${role}`,
]

/** A connection determines who becomes a member by signing in, and a purge cannot be undone. */
const manages = [`POST ${organization}/connections`, `POST ${organization}/purge`]

const withMinimumRole = (names: readonly string[], minimum: AdminRole) =>
  Object.fromEntries(names.map((name) => [name, minimum]))

export const organizationEndpoints: Readonly<Record<string, AdminRole>> = {
  ...withMinimumRole(reads, 'support'),
  ...withMinimumRole(writes, 'operator'),
  ...withMinimumRole(manages, 'owner'),
}
