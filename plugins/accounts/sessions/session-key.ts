/**
 * The key that signs a session's refresh tokens. It is derived from the server's key and the session's id, so the
 * usual refresh needs no look-up before it knows a forged token; it is stored (encrypted) too, because sessions
 * taken over from GoTrue have random ones.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'

import type { House } from '../../define-plugin.ts'
import type { RefreshToken } from './refresh-token.ts'

type KeyHouse = House<'encryption'>

const purpose = (sessionId: string) => `refresh token ${sessionId}`
const storedAs = 'the refresh-token key of a session'

export function deriveKey({ encryption }: KeyHouse, sessionId: string): KeyObject {
  return encryption.deriveKey(purpose(sessionId))
}

/** The derived key that signed the token, if one did. */
export function findDerivedKey(
  { encryption }: KeyHouse,
  token: RefreshToken,
): KeyObject | undefined {
  return encryption.deriveKeys(purpose(token.sessionId)).find((key) => token.isSignedWith(key))
}

/** The form in which the key is stored; in clear where GoTrue reads the database, too. */
export function sealKey({ encryption }: KeyHouse, sessionId: string, key: KeyObject): string {
  return encryption.seal(sessionId, key.export().toString('base64url'))
}

/** Reads the stored form; throws DecryptionError when its encryption key is not configured. */
export function openKey({ encryption }: KeyHouse, sessionId: string, stored: string): KeyObject {
  return createSecretKey(encryption.decrypt(sessionId, stored, storedAs), 'base64url')
}

/** False for a key that is stored in another form than a new one would be. */
export function isSealedKey({ encryption }: KeyHouse, stored: string): boolean {
  return encryption.isSealed(stored)
}
