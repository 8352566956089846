/**
 * The link in an email that revokes one session. It is signed and has the session id and an expiry, so that nothing is
 * stored.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import { uuidIn, uuidSize, uuidToBytes } from './refresh-token.ts'

/** The session of a link. */
export interface LogoutTokenSession {
  userId: string
  sessionId: string
}

const purpose = 'end session link'
const lifetimeMs = 7 * 86_400_000

/** In bytes. */
const expiryAt = 2 * uuidSize
const macAt = expiryAt + 6
const tokenSize = macAt + 32

/** The URL of the page with the button. */
export function logoutLink(
  { config, encryption }: FastifyInstance,
  { userId, sessionId }: LogoutTokenSession,
  now: Date,
): string {
  const expiry = Buffer.alloc(macAt - expiryAt)
  expiry.writeUIntBE(now.getTime() + lifetimeMs, 0, expiry.length)
  const payload = Buffer.concat([uuidToBytes(userId), uuidToBytes(sessionId), expiry])
  const token = Buffer.concat([payload, computeMac(encryption.deriveKey(purpose), payload)])
  return `${config.AUTH_API_EXTERNAL_URL}/sessions/end?token=${token.toString('base64url')}`
}

/** Undefined for a foreign, changed or expired token. */
export function verifyLogoutToken(
  { encryption }: FastifyInstance,
  text: string,
  now: Date,
): LogoutTokenSession | undefined {
  const token = Buffer.from(text, 'base64url')
  if (token.length !== tokenSize) return undefined
  const [payload, mac] = [token.subarray(0, macAt), token.subarray(macAt)]
  const keys = encryption.deriveKeys(purpose)
  if (!keys.some((key) => timingSafeEqual(computeMac(key, payload), mac))) return undefined
  if (payload.readUIntBE(expiryAt, macAt - expiryAt) <= now.getTime()) return undefined
  return {
    userId: uuidIn(payload.subarray(0, uuidSize)),
    sessionId: uuidIn(payload.subarray(uuidSize, expiryAt)),
  }
}

function computeMac(key: KeyObject, payload: Buffer): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}
