/** Every admin endpoint with the minimum role that may call it. An endpoint that is missing here is for owners only. */
import type { FastifyRequest } from 'fastify'

import { type AdminRole, includesRole } from '../../../schemas/console/admin-role.ts'
import { organizationEndpoints } from './organization-endpoints.ts'

const read: AdminRole = 'support'
const write: AdminRole = 'operator'
const manage: AdminRole = 'owner'

const users = '/admin/users/{user_id}'
const webhook = '/admin/webhooks/{webhook_id}'
const client = '/admin/oauth/clients/{client_id}'
const scimConnection = '/admin/scim/connections/{connection_id}'

/**
 * Endpoints that give access to admins' accounts are for owners: signing keys, identity providers, and the templates of
 * emails with links. An operator may read all that these endpoints return, and change users who are not admins.
 */
export const adminEndpoints: Readonly<Record<string, AdminRole>> = {
  'GET /admin/users': read,
  'POST /admin/users': write,
  [`POST ${users}`]: write,
  [`GET ${users}`]: read,
  [`PUT ${users}`]: write,
  [`DELETE ${users}`]: write,
  [`POST ${users}/resend_invitation`]: write,
  [`GET ${users}/mails`]: read,
  [`GET ${users}/sessions`]: read,
  [`DELETE ${users}/sessions`]: write,
  [`DELETE ${users}/sessions/{id}`]: write,
  [`GET ${users}/factors`]: read,
  [`PUT ${users}/factors/{factor_id}`]: write,
  [`DELETE ${users}/factors/{factor_id}`]: write,
  [`GET ${users}/factors/recovery_codes`]: read,
  [`DELETE ${users}/factors/recovery_codes`]: write,
  [`GET ${users}/passkeys`]: read,
  [`DELETE ${users}/passkeys/{passkey_id}`]: write,
  [`GET ${users}/username`]: read,
  [`PUT ${users}/username`]: write,
  [`DELETE ${users}/username`]: write,
  [`POST ${users}/impersonate`]: write,
  'POST /admin/generate_link': write,
  'POST /invite': write,
  'GET /admin/audit': read,
  'GET /admin/events': read,
  'GET /admin/keys': read,
  'POST /admin/keys': manage,
  'GET /admin/webhooks': read,
  'POST /admin/webhooks': write,
  [`GET ${webhook}`]: read,
  [`PUT ${webhook}`]: write,
  [`DELETE ${webhook}`]: write,
  [`GET ${webhook}/deliveries`]: read,
  [`POST ${webhook}/rotate_secret`]: write,
  [`POST ${webhook}/test`]: write,
  [`POST ${webhook}/replay`]: write,
  'GET /admin/custom-providers': read,
  'POST /admin/custom-providers': manage,
  'GET /admin/custom-providers/{identifier}': read,
  'PUT /admin/custom-providers/{identifier}': manage,
  'DELETE /admin/custom-providers/{identifier}': manage,
  'GET /admin/sso/providers': read,
  'POST /admin/sso/providers': manage,
  'GET /admin/sso/providers/{provider}': read,
  'PUT /admin/sso/providers/{provider}': manage,
  'DELETE /admin/sso/providers/{provider}': manage,
  'GET /admin/scim/connections': read,
  'POST /admin/scim/connections': manage,
  [`GET ${scimConnection}`]: read,
  [`PUT ${scimConnection}`]: manage,
  [`DELETE ${scimConnection}`]: manage,
  [`GET ${scimConnection}/tokens`]: read,
  [`POST ${scimConnection}/tokens`]: manage,
  [`DELETE ${scimConnection}/tokens/{token_id}`]: manage,
  'GET /admin/oauth/clients': read,
  'POST /admin/oauth/clients': write,
  [`GET ${client}`]: read,
  [`PUT ${client}`]: write,
  [`DELETE ${client}`]: write,
  [`POST ${client}/regenerate_secret`]: write,
  [`GET ${client}/consents`]: read,
  // The wildcard route while the OAuth server is disabled.
  'GET /admin/oauth/*': read,
  'GET /admin/me': read,
  'GET /admin/statistics': read,
  'GET /admin/mail': read,
  'POST /admin/mail/{id}/retry': write,
  'POST /admin/mail/retry': write,
  'DELETE /admin/mail/{id}': write,
  'GET /admin/mail/templates': read,
  'GET /admin/mail/preview': read,
  'POST /admin/mail/preview': write,
  'POST /admin/mail/test': write,
  'GET /admin/users/export': write,
  'POST /admin/users/import': write,
  'POST /admin/users/bulk': write,
  [`GET ${users}/grants`]: read,
  [`DELETE ${users}/grants/{client_id}`]: write,
  [`POST ${users}/send_link`]: write,
  'GET /admin/audit/export': write,
  'GET /admin/providers': read,
  'POST /admin/providers/{name}/test': write,
  'GET /admin/hooks': read,
  'GET /admin/config': write,
  'GET /admin/doctor': write,
  'GET /admin/settings': write,
  'PUT /admin/settings': manage,
  'DELETE /admin/settings/{name}': manage,
  'GET /admin/settings/history': write,
  'POST /admin/settings/history/{id}/revert': manage,
  ...organizationEndpoints,
  'GET /admin/admins': write,
  'POST /admin/admins': manage,
  'PUT /admin/admins/{user_id}': manage,
  'DELETE /admin/admins/{user_id}': manage,
}

/** The endpoints that a role may call. */
export function listEndpoints(role: AdminRole): string[] {
  const entries = Object.entries(adminEndpoints)
  return entries.filter(([, minimum]) => includesRole(role, minimum)).map(([name]) => name)
}

/** The key of an endpoint in the table. */
const endpointName = (method: string, url: string): string =>
  `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`

export function getMinimumRole({
  method,
  routeOptions,
}: Pick<FastifyRequest, 'method' | 'routeOptions'>): AdminRole {
  return adminEndpoints[endpointName(method, routeOptions.url ?? '')] ?? manage
}
