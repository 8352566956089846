/** Sign-in with an id_token that an app got from the provider itself. */
import { createHash } from 'node:crypto'

import { sameText } from './constant-time.ts'
import { IdTokenFault } from './id-token-fault.ts'
import {
  type IdTokenContext,
  type IdTokenRequest,
  select,
  withScheme,
} from './id-token-selection.ts'
import { toIdentity } from './identity.ts'
import { text } from './json.ts'
import { issuerOf, verifyIdToken } from './oidc.ts'
import { type Identity, ProviderError } from './provider.ts'

export interface IdTokenSignIn {
  /** The identity's provider: a name, or the issuer when it belongs to none. */
  provider: string
  identity: Identity
  emailOptional: boolean
}

/** Who an id_token belongs to. Throws IdTokenFault; nothing is fetched for a malformed token. */
export async function identityFromIdToken(
  request: IdTokenRequest,
  context: IdTokenContext,
): Promise<IdTokenSignIn> {
  const { idToken, issuer, accessToken } = request
  if (!idToken) throw new IdTokenFault('invalid_request', 'id_token is missing')
  const { provider, rules, settings, audiences } = select(request, context)
  try {
    const claimed = issuerOf(idToken)
    if (request.provider && issuer && !sameIssuer(issuer, claimed)) throw otherIssuer(provider)
    const claims = await verifyIdToken(context.upstreamOf(provider).issuers, idToken, {
      audiences,
      accessToken,
      now: context.now,
      accepts: (candidate) => rules.accepts(candidate, settings),
      discoverAt: rules.discoverAt?.(settings),
    })
    const mayLack = claims.nonce === undefined && rules.mayLackNonce?.(claims) === true
    if (rules.nonce && !settings.skipNonceCheck && !mayLack) {
      checkNonce(text(claims.nonce), request.nonce)
    }
    const identity = toIdentity(rules.profile(claims, settings))
    return { provider, identity, emailOptional: settings.emailOptional }
  } catch (error) {
    throw faultOf(error)
  }
}

/** The client gave its app's nonce; the provider was given its hash, as native SDKs do. */
function checkNonce(claimed: string, nonce = '') {
  if ((claimed === '') !== (nonce === '')) {
    throw new IdTokenFault('invalid_request', 'Nonce must be in both the ID token and the request')
  }
  const hash = createHash('sha256').update(nonce).digest('hex')
  if (nonce !== '' && !sameText(claimed, hash)) {
    throw new IdTokenFault('invalid_nonce', 'Nonces mismatch')
  }
}

function faultOf(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'discovery') {
    return new IdTokenFault('unreachable', 'The provider could not be reached', { cause: error })
  }
  return new IdTokenFault('invalid_request', error.message, { cause: error })
}

function otherIssuer(provider: string) {
  return new IdTokenFault('validation_failed', `The issuer is not the one of ${provider}'s token`)
}

function sameIssuer(left: string, right: string): boolean {
  return withScheme(left) === withScheme(right)
}
