/**
 * The key that signs a session's refresh tokens. It is derived from the server's key and the session id, so that a
 * forged token is rejected without a look-up. It is also stored (encrypted), because sessions created by GoTrue have
 * random keys.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { RefreshToken } from './refresh-token.ts'

const purpose = (sessionId: string) => `refresh token ${sessionId}`
const storedAs = 'the refresh-token key of a session'

export function deriveKey({ encryption }: FastifyInstance, sessionId: string): KeyObject {
  return encryption.deriveKey(purpose(sessionId))
}

/** The derived key that signed the token, if any. */
export function findDerivedKey(
  { encryption }: FastifyInstance,
  token: RefreshToken,
): KeyObject | undefined {
  return encryption.deriveKeys(purpose(token.sessionId)).find((key) => token.isSignedWith(key))
}

/** The stored form of the key; plain where GoTrue shares the database. */
export function encryptKey(
  { encryption }: FastifyInstance,
  sessionId: string,
  key: KeyObject,
): string {
  return encryption.seal(sessionId, key.export().toString('base64url'))
}

/** Decrypts the stored form; throws DecryptionError when its encryption key is not configured. */
export function decryptKey(
  { encryption }: FastifyInstance,
  sessionId: string,
  stored: string,
): KeyObject {
  return createSecretKey(encryption.decrypt(sessionId, stored, storedAs), 'base64url')
}

/** False for a key in another form than that of new ones. */
export function isEncryptedKey({ encryption }: FastifyInstance, stored: string): boolean {
  return encryption.isSealed(stored)
}
