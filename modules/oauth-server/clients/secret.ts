/** Generated secrets, shown once and stored as a hash. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes as base64url. */
export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** base64url of the SHA-256, as GoTrue stores client secrets. */
export const hashClientSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url')

/** Compares in constant time. */
export function isSecret(secret: string, hash: string | null): boolean {
  if (hash === null) return false
  const [given, stored] = [Buffer.from(hashClientSecret(secret)), Buffer.from(hash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
