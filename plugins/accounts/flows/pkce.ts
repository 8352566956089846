/** PKCE (RFC 7636): the challenge a client sends first, and the verifier that answers it. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** The client's half of PKCE (RFC 7636 §4.3). */
export interface Pkce {
  challenge: string
  method: 's256' | 'plain'
}

export interface PkceFields {
  code_challenge?: string
  code_challenge_method?: string
}

/** Constant-time comparison of a verifier with the challenge it should answer (RFC 7636 §4.6). */
export function answersChallenge(verifier: string, { challenge, method }: Pkce): boolean {
  const computed =
    method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const [a, b] = [Buffer.from(computed), Buffer.from(challenge)]
  return a.length === b.length && timingSafeEqual(a, b)
}
