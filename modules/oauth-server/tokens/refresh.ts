/** The refresh grant of clients (RFC 6749 §6), with the same sessions as users. */
import { findClientSession } from '../../../db/oauth-server/sessions.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { invalidScope, oauthInvalidRequest } from '../../../schemas/errors.ts'
import { refreshSession, sessionIdOfRefreshToken } from '../../sessions/index.ts'
import type { Client } from '../clients/client.ts'
import { covers } from '../scopes.ts'
import { listTokenAudiences, narrowResources } from './audience.ts'
import { type TokenResponse, toOauthTokenResponse } from './issue.ts'
import type { Origin } from './origin.ts'

interface RefreshRequest {
  refreshToken: string | undefined
  scope: string | undefined
  resources: readonly string[]
}

/** Throws the errors of `sessions.refresh`, and invalid_request, invalid_scope or invalid_target. */
export async function refreshClient(
  { db, sessions }: Deps<'db' | 'sessions'>,
  client: Client,
  { refreshToken, scope, resources }: RefreshRequest,
  { client: info }: Origin,
  now: Date,
): Promise<TokenResponse> {
  if (!refreshToken) throw oauthInvalidRequest('refresh_token is missing')
  const sessionId = sessionIdOfRefreshToken(refreshToken)
  const session = sessionId ? await findClientSession(db, sessionId) : undefined
  const granted = session?.scopes ?? ''
  if (session && scope && !covers(granted, scope)) {
    throw invalidScope('The scope exceeds what the user granted')
  }
  const requested = narrowResources(session?.resources ?? [], resources)
  const narrower = {
    clientId: client.clientId,
    ...(session && { audience: listTokenAudiences(client, requested, session.aud) }),
    ...(scope && { scopes: scope }),
    userinfoClaims: session?.userinfo_claims ?? [],
  }
  const presenter = { ...info, oauthClientId: client.id }
  const refreshed = await refreshSession(sessions, refreshToken, presenter, now, narrower)
  return toOauthTokenResponse(client, refreshed, scope || granted)
}
