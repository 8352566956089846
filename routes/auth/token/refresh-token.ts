import type { FastifyInstance } from 'fastify'

import { refreshSession } from '../../../modules/sessions/index.ts'
import { organizationsDisabled, validationFailed } from '../../../schemas/errors.ts'
import type { GrantHandler } from './grant.ts'

/** RFC 6749 §6, with rotation and reuse detection. */
export function refreshTokenGrant({ sessions }: FastifyInstance): GrantHandler {
  return async ({ refresh_token, organization_id: organizationId }, { clientInfo }, now) => {
    if (!refresh_token) throw validationFailed('Refresh token is not valid')
    if (organizationId && !sessions.config.AUTH_ORGANIZATIONS_ENABLED) throw organizationsDisabled()
    return refreshSession(sessions, refresh_token, { ...clientInfo, organizationId }, now)
  }
}
