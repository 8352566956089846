import type { Config } from './index.ts'

/** The algorithm that signs new access tokens (RFC 7518 §3.1). A configured key without one uses HS256. */
export function signingAlgorithm({ AUTH_JWT_KEYS: keys, AUTH_JWT_ALGORITHM }: Config): string {
  const signing = keys?.find((key) => key.key_ops?.includes('sign'))
  return keys ? (signing?.alg ?? 'HS256') : AUTH_JWT_ALGORITHM
}
