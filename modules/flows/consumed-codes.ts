/** Auth codes are single use (RFC 6749 §4.1.2). Reuse means that a code was copied: its session is revoked. */
import { createHash } from 'node:crypto'

import type { Trx } from '../../db/core/database.ts'
import {
  type FlowStateRow,
  findConsumedCode,
  insertConsumedCode,
} from '../../db/flows/flow-states.ts'
import { matchesCodeChallenge } from './pkce.ts'

/** Records the session of the exchanged code. */
export async function rememberConsumedCode(
  trx: Trx,
  { auth_code, code_challenge, code_challenge_method }: FlowStateRow,
  sessionId: string,
  now: Date,
): Promise<void> {
  if (!auth_code || !code_challenge || !code_challenge_method) return
  await insertConsumedCode(trx, {
    code_hash: hashCode(auth_code),
    session_id: sessionId,
    code_challenge,
    code_challenge_method,
    consumed_at: now,
  })
}

/**
 * Returns the session of a reused code, when it comes with its verifier. Undefined without the verifier, as a code
 * alone must not revoke a session.
 */
export async function findIssuedSession(
  trx: Trx,
  code: string,
  verifier: string,
): Promise<{ userId: string; sessionId: string } | undefined> {
  const consumed = await findConsumedCode(trx, hashCode(code))
  if (!consumed) return undefined
  const { code_challenge: challenge, code_challenge_method: method } = consumed
  if (!matchesCodeChallenge(verifier, { challenge, method })) return undefined
  return { userId: consumed.user_id, sessionId: consumed.session_id }
}

function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
