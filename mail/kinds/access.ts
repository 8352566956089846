/** New access of users, clients and admins, besides the sign-in methods that have a file each. */
import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const usernameChanged = notificationKind({
  event: 'USERNAME_CHANGED',
  details: { Username: Type.String() },
  sample: { Username: 'ada' },
})

export const appConnected = notificationKind({
  event: 'APP_CONNECTED',
  details: { ClientName: Type.String(), Scopes: Type.String() },
  sample: { ClientName: 'Grafana', Scopes: 'openid email' },
})

export const adminRole = notificationKind({
  event: 'ADMIN_ROLE',
  details: { Account: Type.String(), Role: Type.String() },
  sample: { Account: 'grace@example.org', Role: 'operator' },
})

export const organizationRole = notificationKind({
  event: 'ORGANIZATION_ROLE',
  details: { Account: Type.String(), OrganizationName: Type.String(), Role: Type.String() },
  sample: { Account: 'grace@example.org', OrganizationName: 'Acme', Role: 'admin' },
})

export const scimToken = notificationKind({
  event: 'SCIM_TOKEN',
  details: { TokenName: Type.String(), ConnectionName: Type.String() },
  sample: { TokenName: 'Entra ID', ConnectionName: 'Acme' },
})

export const oauthClient = notificationKind({
  event: 'OAUTH_CLIENT',
  details: { ClientName: Type.String(), Change: Type.String() },
  sample: { ClientName: 'Grafana', Change: 'redirect_uris' },
})

export const serverChange = notificationKind({
  event: 'SERVER_CHANGE',
  details: { Account: Type.String(), Change: Type.String() },
  sample: { Account: 'grace@example.org', Change: 'AUTH_SITE_URL' },
})
