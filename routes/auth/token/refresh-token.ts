import type { FastifyInstance } from 'fastify'

import { validationFailed } from '../../../errors.ts'
import type { Grant } from './grant.ts'

/** RFC 6749 §6, with rotation and reuse detection. */
export function refreshTokenGrant({ sessions }: FastifyInstance): Grant {
  return async ({ refresh_token }, { client }, now) => {
    if (!refresh_token) throw validationFailed('Refresh token is not valid')
    return sessions.refresh(refresh_token, client, now)
  }
}
