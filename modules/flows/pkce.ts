/** PKCE (RFC 7636): code challenge and code verifier. */
import { createHash } from 'node:crypto'

import { validationFailed } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import type { Pkce } from '../otp/link-context.ts'

export interface PkceInput {
  code_challenge?: string
  code_challenge_method?: string
}

/** Reads both PKCE fields. Throws validation_failed when one is missing or malformed. */
export function readPkce(fields: PkceInput): Pkce | undefined {
  const { code_challenge: challenge, code_challenge_method: method } = fields
  if (!challenge && !method) return undefined
  if (!challenge || !method) {
    throw validationFailed('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw validationFailed('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[A-Za-z0-9._~-]+$/.test(challenge)) {
    throw validationFailed('code challenge can only contain the characters A-Z a-z 0-9 . _ ~ -')
  }
  const name = method.toLowerCase()
  if (name !== 's256' && name !== 'plain') {
    throw validationFailed('code_challenge_method has to be s256 or plain')
  }
  // A plain challenge is the verifier itself and is stored with the code: it is hashed.
  return { challenge: name === 'plain' ? s256(challenge) : challenge, method: 's256' }
}

function s256(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Compares a verifier with its challenge in constant time (RFC 7636 §4.6). */
export function matchesCodeChallenge(verifier: string, { challenge, method }: Pkce): boolean {
  const computed = method === 's256' ? s256(verifier) : verifier
  return isEqualInConstantTime(computed, challenge)
}
