/** Checks that a callback belongs to its flow (RFC 6749 §4.1.2, RFC 9207). */
import { skipStateCheck, validateAuthResponse } from 'oauth4webapi'

import { ProviderError } from '../core/provider-error.ts'
import type { Callback } from '../core/types.ts'
import type { OAuth2Flow, ProviderEndpoints } from './types.ts'

/** Returns the callback parameters for the token request. Throws ProviderError callback. */
export function checkCallback(
  flow: OAuth2Flow,
  { issuer, namesIssuer = false }: ProviderEndpoints,
  { params: { code, iss }, secrets }: Callback,
): URLSearchParams {
  // A check that was set up at the start is required.
  const isOurs = !secrets.startedByGotrue
  if (isOurs && flow.pkce && !secrets.codeVerifier) throw reject('the flow has no code verifier')
  if (isOurs && flow.nonce && !secrets.nonce) throw reject('the flow has no nonce')
  if (!code) throw reject('the callback has no code')
  // `iss` cannot be checked without a known issuer.
  const query = new URLSearchParams({ code, ...(issuer && iss !== undefined && { iss }) })
  const server = {
    issuer: issuer ?? 'unknown',
    authorization_response_iss_parameter_supported: namesIssuer,
  }
  try {
    // The state was checked when the flow was looked up by it.
    return validateAuthResponse(server, { client_id: 'any' }, query, skipStateCheck)
  } catch {
    throw reject('the callback has another issuer, or none')
  }
}

function reject(why: string) {
  return new ProviderError('callback', why)
}
