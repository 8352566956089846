/** Apple's client secret: a JWT signed with the developer's key (ES256). */
import { importPKCS8, SignJWT } from 'jose'

import { ProviderError, type ProviderSettings } from '../provider.ts'

/**
 * A function that returns the configured secret or, given team id, key id and private key, a new
 * one good for five minutes; so nothing has to be renewed. Throws ProviderError configuration.
 */
export function createAppleSecret(settings: ProviderSettings): (now: Date) => Promise<string> {
  const { secret, teamId, keyId, privateKey } = settings
  return async (now) => {
    const clientId = settings.clientIds[0]
    if (secret) return secret
    if (!clientId || !teamId || !keyId || !privateKey) {
      throw new ProviderError('configuration', 'neither a secret nor team id, key id and key')
    }
    const issuedAt = Math.floor(now.getTime() / 1000)
    const jwt = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + 300)
    return jwt.sign(await keyOf(privateKey))
  }
}

async function keyOf(privateKey: string) {
  try {
    return await importPKCS8(privateKey.replaceAll('\\n', '\n').trim(), 'ES256')
  } catch {
    // The library's message might quote the key.
    throw new ProviderError('configuration', 'the private key is no PKCS #8 key on P-256')
  }
}
