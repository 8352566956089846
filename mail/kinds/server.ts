/** Changes that give access to the server. */
import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const adminRole = notificationKind({
  event: 'ADMIN_ROLE',
  details: { Account: Type.String(), Role: Type.String() },
  sample: { Account: 'grace@example.org', Role: 'operator' },
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
