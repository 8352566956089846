/**
 * The link of a mail that ends one session, and nothing else. It is signed under a key of its own, so that nothing of it
 * is stored; it says which session, and until when.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

import type { House } from '../../define-plugin.ts'
import { bytesOf, uuidIn, uuidSize } from './uuid-bytes.ts'

/** Whose session a link ends. */
export interface EndableSession {
  userId: string
  sessionId: string
}

const purpose = 'end session link'
const lifetimeMs = 7 * 86_400_000

/** Bytes. */
const expiryAt = 2 * uuidSize
const macAt = expiryAt + 6
const tokenSize = macAt + 32

/** The address of the page with the button. */
export function endLink(
  { config, encryption }: House<'config' | 'encryption'>,
  { userId, sessionId }: EndableSession,
  now: Date,
): string {
  const expiry = Buffer.alloc(macAt - expiryAt)
  expiry.writeUIntBE(now.getTime() + lifetimeMs, 0, expiry.length)
  const said = Buffer.concat([bytesOf(userId), bytesOf(sessionId), expiry])
  const token = Buffer.concat([said, macOf(encryption.deriveKey(purpose), said)])
  return `${config.AUTH_API_EXTERNAL_URL}/sessions/end?token=${token.toString('base64url')}`
}

/** Undefined for a token that is not ours, was changed, or has expired. */
export function readEndToken(
  { encryption }: House<'encryption'>,
  text: string,
  now: Date,
): EndableSession | undefined {
  const token = Buffer.from(text, 'base64url')
  if (token.length !== tokenSize) return undefined
  const [said, mac] = [token.subarray(0, macAt), token.subarray(macAt)]
  const keys = encryption.deriveKeys(purpose)
  if (!keys.some((key) => timingSafeEqual(macOf(key, said), mac))) return undefined
  if (said.readUIntBE(expiryAt, macAt - expiryAt) <= now.getTime()) return undefined
  return {
    userId: uuidIn(said.subarray(0, uuidSize)),
    sessionId: uuidIn(said.subarray(uuidSize, expiryAt)),
  }
}

function macOf(key: KeyObject, said: Buffer): Buffer {
  return createHmac('sha256', key).update(said).digest()
}
