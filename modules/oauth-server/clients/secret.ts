/** Generated secrets, shown once and stored as a hash. */
import { createHash, randomBytes } from 'node:crypto'

import { isEqualInConstantTime } from '../../../schemas/values/constant-time.ts'

/** 32 random bytes as base64url. */
export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** base64url of the SHA-256, as GoTrue stores client secrets. */
export const hashClientSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url')

/** Compares in constant time. */
export function isSecret(secret: string, hash: string | null): boolean {
  return hash !== null && isEqualInConstantTime(hashClientSecret(secret), hash)
}
