/** Keys of fake OpenID providers. */
import { generateKeyPairSync } from 'node:crypto'

import { type JWTPayload, SignJWT } from 'jose'

export const signing = createPair('key-1')
/** An unpublished key. */
export const foreign = createPair('key-1')

function createPair(kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
  return { publicKey, privateKey, jwk, kid }
}

/** The signing key; without an id the token header has none. */
type SigningKey = Pick<typeof signing, 'privateKey'> & { kid: string | undefined }

/** An id_token that is valid for five minutes unless the claims say otherwise. */
export function signIdToken(
  claims: JWTPayload,
  now: Date,
  { kid, privateKey }: SigningKey = signing,
): Promise<string> {
  const seconds = Math.floor(now.getTime() / 1000)
  return new SignJWT({ iat: seconds, exp: seconds + 300, ...claims })
    .setProtectedHeader({ alg: 'RS256', ...(kid !== undefined && { kid }) })
    .sign(privateKey)
}

/** The same with a shared secret. */
export function signByHs256(claims: JWTPayload, secret: string): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(Buffer.from(secret))
}
