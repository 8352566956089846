/** Apple's client secret: a JWT signed with the developer's key (ES256). */
import { importPKCS8, SignJWT } from 'jose'

import { ProviderError } from '../core/provider-error.ts'
import type { ProviderSettings } from '../core/types.ts'

/**
 * Returns a function that returns the configured secret or, given team id, key id and private key, a new one valid for
 * five minutes. Throws ProviderError configuration.
 */
export function createAppleSecret(settings: ProviderSettings): (now: Date) => Promise<string> {
  const { secret, teamId, keyId, privateKey } = settings
  return async (now) => {
    const clientId = settings.clientIds[0]
    if (secret) return secret
    if (!clientId || !teamId || !keyId || !privateKey) {
      throw new ProviderError('configuration', 'no secret, and no team id, key id and key')
    }
    const issuedAt = Math.floor(now.getTime() / 1000)
    const jwt = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + 300)
    return jwt.sign(await importKey(privateKey))
  }
}

async function importKey(privateKey: string) {
  try {
    return await importPKCS8(privateKey.replaceAll('\\n', '\n').trim(), 'ES256')
  } catch {
    // The library's message might contain the key.
    throw new ProviderError('configuration', 'the private key is not a PKCS #8 P-256 key')
  }
}
