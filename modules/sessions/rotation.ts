import type { FastifyInstance } from 'fastify'

import type { TokenSession } from '../../db/sessions/sessions.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import type { ApiError } from '../../schemas/errors.ts'

/** The client that presents a refresh token. */
export interface Presenter extends ClientInfo {
  /** The authenticated OAuth client; only it may refresh its sessions. */
  oauthClientId?: string
  /** The organization of the token; the session's active one when absent. */
  organizationId?: string | undefined
}

/** A rejection is returned, not thrown, so that its writes are committed. */
export type RotationOutcome = RotationResult | ApiError

export interface RotationResult {
  record: TokenSession
  /** The token of the response. */
  token: string
  outcome: 'rotated' | 'reused'
}

/** The actor of the request is the user of the session, or the admin who impersonates the user. */
export function identifyHolder(
  { bearerAuth }: FastifyInstance,
  { id, impersonated_by: sub }: TokenSession,
): void {
  bearerAuth.identify({ actor: { type: 'user', id }, ...(sub && { act: { sub } }) })
}
