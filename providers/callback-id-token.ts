import type { JWTPayload } from 'jose'

import { sameText } from './constant-time.ts'
import type { Issuers } from './issuers.ts'
import { text } from './json.ts'
import type { Grant } from './oauth2.ts'
import { type IdTokenCheck, rejected, verifyIdToken } from './oidc.ts'

/** The id_token of a callback: for our first client id, with the nonce of this very flow. */
export async function verifyCallbackIdToken(
  issuers: Issuers,
  { tokens, callback }: Grant,
  check: Pick<IdTokenCheck, 'accepts' | 'discoverAt'> & { clientIds: readonly string[] },
): Promise<JWTPayload> {
  if (tokens.idToken === '') throw rejected('the reply has no id_token')
  const claims = await verifyIdToken(issuers, tokens.idToken, {
    ...check,
    audiences: check.clientIds.slice(0, 1),
    accessToken: tokens.accessToken,
    now: callback.now,
  })
  if (!sameText(text(claims.nonce), callback.secrets.nonce ?? '')) throw rejected('another nonce')
  return claims
}
