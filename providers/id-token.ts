/** Sign-in with an id_token that an app received from the provider. */
import { createHash } from 'node:crypto'

import { toProviderIdentity } from './core/identity.ts'
import { ProviderError } from './core/provider-error.ts'
import type { ProviderIdentity } from './core/types.ts'
import { asText } from './http/json.ts'
import {
  type IdTokenContext,
  IdTokenError,
  type IdTokenRequest,
  selectIdTokenProvider,
  withScheme,
} from './id-token-selection.ts'
import { sameText } from './oidc/constant-time.ts'
import { findSharedKey, readIssuer, verifyIdToken } from './oidc/verify-id-token.ts'

export interface IdTokenSignIn {
  /** The provider of the identity: a name, or the issuer without one. */
  provider: string
  identity: ProviderIdentity
  emailOptional: boolean
}

/** Verifies an id_token and returns its identity. Throws IdTokenError; nothing is fetched for a malformed token. */
export async function identityFromIdToken(
  request: IdTokenRequest,
  context: IdTokenContext,
): Promise<IdTokenSignIn> {
  const { idToken, issuer, accessToken } = request
  if (!idToken) throw new IdTokenError('invalid_request', 'id_token is missing')
  const { provider, rules, settings, audiences } = selectIdTokenProvider(request, context)
  try {
    const claimed = readIssuer(idToken)
    if (request.provider && issuer && !sameIssuer(issuer, claimed)) throw otherIssuer(provider)
    const claims = await verifyIdToken(context.getProviderHttp(provider).issuers, idToken, {
      audiences,
      accessToken,
      shared: findSharedKey(settings),
      now: context.now,
      accepts: (candidate) => rules.accepts(candidate, settings),
      discoverAt: rules.discoverAt?.(settings),
    })
    const mayLack = claims.nonce === undefined && rules.mayLackNonce?.(claims) === true
    if (rules.nonce && !settings.skipNonceCheck && !mayLack) {
      checkNonce(asText(claims.nonce), request.nonce)
    }
    const identity = toProviderIdentity(rules.profile(claims, settings))
    return { provider, identity, emailOptional: settings.emailOptional }
  } catch (error) {
    throw toIdTokenError(error)
  }
}

/** The app sends the nonce; the token may have it, or its SHA-256 as native SDKs do. */
function checkNonce(claimed: string, nonce = '') {
  if (claimed === '' && nonce !== '') {
    throw new IdTokenError(
      'invalid_request',
      'The ID token has no nonce: start the sign-in at the provider with the SHA-256 of the nonce, or let the operator set skip_nonce_check for this provider',
    )
  }
  if (claimed !== '' && nonce === '') {
    throw new IdTokenError(
      'invalid_request',
      'The request has no nonce, but the ID token has one: send the nonce whose SHA-256 it is',
    )
  }
  const hash = createHash('sha256').update(nonce).digest('hex')
  if (nonce !== '' && !sameText(claimed, hash)) {
    throw new IdTokenError('invalid_nonce', 'Nonces mismatch')
  }
}

function toIdTokenError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'discovery') {
    return new IdTokenError('unreachable', 'The provider could not be reached', { cause: error })
  }
  return new IdTokenError('invalid_request', error.message, { cause: error })
}

function otherIssuer(provider: string) {
  return new IdTokenError('validation_failed', `The issuer does not belong to ${provider}`)
}

function sameIssuer(left: string, right: string): boolean {
  return withScheme(left) === withScheme(right)
}
