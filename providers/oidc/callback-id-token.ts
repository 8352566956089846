import type { JWTPayload } from 'jose'

import type { Issuers, ProviderSettings } from '../core/types.ts'
import { asText } from '../http/json.ts'
import type { ProfileSources } from '../oauth/types.ts'
import { sameText } from './constant-time.ts'
import { findSharedKey, type IdTokenCheck, rejected, verifyIdToken } from './verify-id-token.ts'

type CallbackCheck = Pick<IdTokenCheck, 'accepts' | 'discoverAt'> & {
  settings: ProviderSettings
  /** Whether this provider may omit the nonce. */
  mayLackNonce?(claims: JWTPayload): boolean
}

/** Names the field of a custom provider and the variable of a configured one. */
const missingNonce =
  'the nonce is missing. For a provider that returns none, set skip_nonce_check (AUTH_EXTERNAL_…_SKIP_NONCE_CHECK)'

/** Verifies the id_token of a callback: for our first client id, with the nonce of the flow. */
export async function verifyCallbackIdToken(
  issuers: Issuers,
  { tokens, callback }: ProfileSources,
  { settings, mayLackNonce, ...check }: CallbackCheck,
): Promise<JWTPayload> {
  if (tokens.idToken === '') throw rejected('the response has no id_token')
  const claims = await verifyIdToken(issuers, tokens.idToken, {
    ...check,
    // The further client ids of a custom provider are additional audiences.
    audiences: settings.custom ? settings.clientIds : settings.clientIds.slice(0, 1),
    isOwnGrant: true,
    shared: findSharedKey(settings),
    accessToken: tokens.accessToken,
    now: callback.now,
  })
  const mayLack = settings.skipNonceCheck || mayLackNonce?.(claims) === true
  if (claims.nonce === undefined && mayLack) return claims
  const { nonce: sent = '' } = callback.secrets
  const nonce = asText(claims.nonce)
  if (nonce === '' && sent !== '') throw rejected(missingNonce)
  if (!sameText(nonce, sent)) throw rejected('another nonce')
  return claims
}
