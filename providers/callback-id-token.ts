import type { JWTPayload } from 'jose'

import { sameText } from './constant-time.ts'
import type { Issuers } from './issuers.ts'
import { text } from './json.ts'
import type { Grant } from './oauth2.ts'
import { type IdTokenCheck, rejected, verifyIdToken } from './oidc.ts'
import type { ProviderSettings } from './provider.ts'

type CallbackCheck = Pick<IdTokenCheck, 'accepts' | 'discoverAt'> & {
  settings: ProviderSettings
  /** Whether this provider may leave the nonce out of such a token. */
  mayLackNonce?(claims: JWTPayload): boolean
}

/** The id_token of a callback: for our first client id, with the nonce of this very flow. */
export async function verifyCallbackIdToken(
  issuers: Issuers,
  { tokens, callback }: Grant,
  { settings, mayLackNonce, ...check }: CallbackCheck,
): Promise<JWTPayload> {
  if (tokens.idToken === '') throw rejected('the reply has no id_token')
  const claims = await verifyIdToken(issuers, tokens.idToken, {
    ...check,
    audiences: settings.clientIds.slice(0, 1),
    isOwnGrant: true,
    accessToken: tokens.accessToken,
    now: callback.now,
  })
  const mayLack = settings.skipNonceCheck || mayLackNonce?.(claims) === true
  if (claims.nonce === undefined && mayLack) return claims
  if (!sameText(text(claims.nonce), callback.secrets.nonce ?? '')) throw rejected('another nonce')
  return claims
}
