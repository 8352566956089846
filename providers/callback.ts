/** Checks that a callback belongs to the flow that was begun (RFC 6749 §4.1.2, RFC 9207). */
import { skipStateCheck, validateAuthResponse } from 'oauth4webapi'

import type { Endpoints, OAuth2Flow } from './oauth2.ts'
import { type Callback, ProviderError } from './provider.ts'

/** What the token request takes of the callback. Throws ProviderError callback. */
export function checkCallback(
  flow: OAuth2Flow,
  { issuer, namesIssuer = false }: Endpoints,
  { params: { code, iss }, secrets }: Callback,
): URLSearchParams {
  // A flow begun with a protection is not finished without it.
  const isOurs = !secrets.begunElsewhere
  if (isOurs && flow.pkce && !secrets.codeVerifier) throw refused('the flow has no code verifier')
  if (isOurs && flow.nonce && !secrets.nonce) throw refused('the flow has no nonce')
  if (!code) throw refused('the callback has no code')
  // Without a known issuer an `iss` cannot be checked.
  const query = new URLSearchParams({ code, ...(issuer && iss !== undefined && { iss }) })
  const server = {
    issuer: issuer ?? 'unknown',
    authorization_response_iss_parameter_supported: namesIssuer,
  }
  try {
    // The state is not checked: the flow has been found by it.
    return validateAuthResponse(server, { client_id: 'any' }, query, skipStateCheck)
  } catch {
    throw refused('the callback names another issuer, or none')
  }
}

function refused(why: string) {
  return new ProviderError('callback', why)
}
