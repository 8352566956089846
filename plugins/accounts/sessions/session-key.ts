/**
 * The key that signs a session's refresh tokens. It is derived from the server's key and the session's id, so the
 * usual refresh needs no look-up before it knows a forged token; it is stored (encrypted) too, because sessions
 * taken over from a peer have random ones.
 */
import type { FastifyInstance } from 'fastify'

import type { RefreshToken } from './refresh-token.ts'

const purpose = (sessionId: string) => `refresh token ${sessionId}`
const storedAs = 'the refresh-token key of a session'

export function createSessionKeys(encryption: FastifyInstance['encryption']) {
  return {
    derive: (sessionId: string): Buffer => encryption.deriveKey(purpose(sessionId)),

    /** The derived key that signed the token, if one did. */
    findDerived(token: RefreshToken): Buffer | undefined {
      return encryption.deriveKeys(purpose(token.sessionId)).find((key) => token.isSignedWith(key))
    },

    seal: (sessionId: string, key: Buffer): string =>
      encryption.encrypt(sessionId, key.toString('base64url')),

    /** Reads the stored form; throws DecryptionError when its encryption key is not configured. */
    open: (sessionId: string, stored: string): Buffer =>
      Buffer.from(encryption.decrypt(sessionId, stored, storedAs), 'base64url'),

    isSealed: (stored: string): boolean => encryption.isEncrypted(stored),
  }
}

export type SessionKeys = ReturnType<typeof createSessionKeys>
