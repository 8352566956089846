/** ID tokens (OpenID Connect Core §2), which identify the user to the client. */
import { createHash } from 'node:crypto'

import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { Client } from '../clients/client.ts'
import { scopeList } from '../scopes.ts'
import { idTokenClaims } from './claims.ts'

interface IdTokenSource {
  client: Client
  user: UserRecord
  signIn: StoredAuthentication
  scope: string
  nonce: string | null
  accessToken: string
  sessionId: string
  /** Individually requested claims. */
  idTokenNames: readonly string[]
}

/** Seconds. */
const lifetime = 3600

/** RFC 8176 names of this server's methods. */
const amrNames: Record<string, string> = {
  password: 'pwd',
  totp: 'otp',
  'mfa/phone': 'sms',
  'mfa/webauthn': 'hwk',
  passkey: 'hwk',
}

/** Signs the token with a key whose public part clients can fetch. */
export function makeIdToken(
  { config, jwt }: Deps<'config' | 'jwt'>,
  { client, user, signIn, scope, nonce, accessToken, sessionId, idTokenNames }: IdTokenSource,
  now: Date,
): Promise<string> {
  const iat = Math.floor(now.getTime() / 1000)
  const amr = [...new Set(signIn.amr.map((method) => amrNames[method] ?? method))]
  return jwt.signIdToken({
    iss: jwt.issuer,
    sub: user.id,
    aud: client.clientId,
    azp: client.clientId,
    iat,
    exp: iat + lifetime,
    auth_time: Math.floor(signIn.auth_time.getTime() / 1000),
    ...(nonce && { nonce }),
    acr: signIn.aal,
    amr: signIn.aal === 'aal1' ? amr : [...amr, 'mfa'],
    sid: sessionId,
    at_hash: hashOfToken(accessToken, jwt.keys.ring.idTokenSigning?.alg ?? 'RS256'),
    client_id: client.clientId,
    ...idTokenClaims(config, user, scopeList(scope), idTokenNames),
  })
}

/** OpenID Connect Core §3.1.3.6: the left half of the hash that the signature uses. */
function hashOfToken(token: string, alg: string): string {
  const digest = createHash(alg === 'EdDSA' || alg.endsWith('512') ? 'sha512' : 'sha256')
  const hash = digest.update(token).digest()
  return hash.subarray(0, hash.length / 2).toString('base64url')
}
