/** PKCE (RFC 7636): the challenge a client sends first, and the verifier that answers it. */
import { createHash, timingSafeEqual } from 'node:crypto'

import { validationFailed } from '../../../errors.ts'

/** The client's half of PKCE (RFC 7636 §4.3). */
export interface Pkce {
  challenge: string
  method: 's256' | 'plain'
}

export interface PkceFields {
  code_challenge?: string
  code_challenge_method?: string
}

/** Reads the pair that PKCE clients send. Throws validation_failed for half of it or a malformed one. */
export function readPkce(fields: PkceFields): Pkce | undefined {
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
  // As what it stands for: the database keeps it beside the code, and it is the verifier itself.
  return { challenge: name === 'plain' ? s256(challenge) : challenge, method: 's256' }
}

function s256(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Constant-time comparison of a verifier with the challenge it should answer (RFC 7636 §4.6). */
export function answersChallenge(verifier: string, { challenge, method }: Pkce): boolean {
  const computed = method === 's256' ? s256(verifier) : verifier
  const [a, b] = [Buffer.from(computed), Buffer.from(challenge)]
  return a.length === b.length && timingSafeEqual(a, b)
}
