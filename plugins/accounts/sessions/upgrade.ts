/** A second factor was proven in a session: the session goes on at aal2, with new tokens. Nothing else raises one. */
import type { Trx } from '../../../db/database.ts'
import { findSessionById } from '../../../db/session-look-ups.ts'
import { deleteLowSessions, raiseSession } from '../../../db/session-upgrade.ts'
import type { SessionRecord } from '../../../db/sessions.ts'
import { sessionInvalid, sessionNotFound } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import { type StoredSession, stored } from './answer.ts'
import { tellEnded } from './end.ts'
import { encodeRefreshToken } from './refresh-token.ts'
import { deriveKey, openKey, sealKey } from './session-key.ts'

/** How a second factor was proven; added to the `amr` of the session. */
export type SecondFactorMethod = 'totp' | 'mfa/phone' | 'mfa/webauthn' | 'recovery_code'

export interface SecondFactorProof {
  method: SecondFactorMethod
  /** The factor that was proven, when it is one. */
  factorId?: string
  /** The client's address. */
  ip: string
}

/**
 * Raises the session to aal2; `sessions.answer` makes of it what the client is answered. The refresh token from before ends the session
 * when it comes back, and the person's other sessions below aal2 are over. The caller holds the lock of the person.
 * Throws session_not_found or session_expired.
 */
export async function upgrade(
  house: House<'db' | 'encryption' | 'events' | 'hooks' | 'jwt' | 'sessionPolicy' | 'telemetry'>,
  trx: Trx,
  session: SessionRecord,
  { method, factorId, ip }: SecondFactorProof,
  now: Date,
): Promise<StoredSession> {
  const { id: userId, session_id: sessionId } = session
  const limit = house.sessionPolicy.expiredBy(session, now)
  // The factor that was owed was just proven.
  if (limit && limit !== 'low_aal') throw sessionInvalid()
  const newKey = sealKey(house, sessionId, deriveKey(house, sessionId))
  const proof = { sessionId, userId, method, factorId: factorId ?? null, newKey }
  if (!(await raiseSession(trx, proof, now))) throw sessionNotFound()
  await tellEnded(house, trx, userId, await deleteLowSessions(trx, userId, sessionId))
  const raised = await findSessionById(trx, sessionId)
  if (!raised) throw sessionNotFound()
  house.telemetry.metrics.count('postern.sign_ins', { method, outcome: 'accepted' })
  const key = openKey(house, sessionId, raised.refresh_token_hmac_key ?? newKey)
  const token = encodeRefreshToken(sessionId, raised.refresh_token_counter ?? 0, key)
  const facts = { person: raised, session: raised, refreshToken: token, method, ip }
  return stored(house, facts, { isNew: false }, now)
}
