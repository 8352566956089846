/**
 * Refresh tokens in the counter format: base64url of a version byte, the session's UUID, a counter as uvarint, 16 bytes
 * of HMAC-SHA-256 under the session's key and 4 bytes of SHA-256 as a checksum. They are not stored.
 */
import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'

import type { FastifyInstance } from 'fastify'

export const uuidSize = 16

const version = 0
const counterAt = 1 + uuidSize
const macLength = 16
const checksumLength = 4

export interface RefreshToken {
  sessionId: string
  counter: number
  /** True when the token was signed with this session key; constant time. */
  isSignedWith(key: KeyObject): boolean
}

export function encodeRefreshToken(sessionId: string, counter: number, key: KeyObject): string {
  const body = Buffer.concat([Buffer.of(version), uuidToBytes(sessionId), uvarint(counter)])
  const signed = Buffer.concat([body, mac(key, body)])
  return Buffer.concat([signed, checksum(signed)]).toString('base64url')
}

/** The session id in a refresh token, valid or not. */
export const sessionIdOfRefreshToken = (token: string): string | undefined =>
  decodeRefreshToken(token)?.sessionId

/** Undefined for a token of another format. */
export function decodeRefreshToken(token: string): RefreshToken | undefined {
  if (token.length > 128 || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const bodyLength = bytes.length - macLength - checksumLength
  if (bodyLength <= counterAt || bytes[0] !== version) return undefined
  const signed = bytes.subarray(0, -checksumLength)
  if (!checksum(signed).equals(bytes.subarray(-checksumLength))) return undefined
  const body = bytes.subarray(0, bodyLength)
  const counter = readUvarint(body.subarray(counterAt))
  if (counter === undefined) return undefined
  const given = bytes.subarray(bodyLength, bodyLength + macLength)
  return {
    sessionId: uuidIn(body.subarray(1, counterAt)),
    counter,
    isSignedWith: (key) => timingSafeEqual(mac(key, body), given),
  }
}

function mac(key: KeyObject, body: Buffer): Buffer {
  return createHmac('sha256', key).update(body).digest().subarray(0, macLength)
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, checksumLength)
}

export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function uuidIn(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function uvarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Buffer.from([...bytes, rest])
}

/** Rejects incomplete numbers, non-canonical encodings, and numbers above 2^53. */
function readUvarint(bytes: Buffer): number | undefined {
  if (bytes.length === 0 || bytes.length > 8) return undefined
  let value = 0
  for (const [index, byte] of bytes.entries()) {
    const isLast = index === bytes.length - 1
    if (isLast === byte >= 0x80) return undefined
    value += (byte % 0x80) * 2 ** (7 * index)
  }
  const isShortest = bytes.length === 1 || bytes.at(-1) !== 0
  return isShortest && Number.isSafeInteger(value) ? value : undefined
}

const purpose = (sessionId: string) => `refresh token ${sessionId}`
const storedAs = 'the refresh-token key of a session'

/**
 * The key that signs a session's refresh tokens. It is derived from the server's key and the session id, so that a
 * forged token is rejected without a look-up. It is also stored (encrypted), because sessions created by GoTrue have
 * random keys.
 */
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
