/** A second factor was proven in a session: the session goes on at aal2, with new tokens. Nothing else raises one. */
import type { Trx } from '../../../db/database.ts'
import { findSessionById } from '../../../db/session-look-ups.ts'
import { deleteLowSessions, raiseSession } from '../../../db/session-upgrade.ts'
import type { SessionRecord } from '../../../db/sessions.ts'
import { oauthSession, sessionInvalid, sessionNotFound } from '../../../errors.ts'
import type { HookClaims } from '../../../schemas/access-token.ts'
import type { Session } from '../../../schemas/session.ts'
import type { House } from '../../define-plugin.ts'
import { tellEnded } from './end.ts'
import { encodeRefreshToken } from './refresh-token.ts'
import { isReplaced } from './refusal.ts'
import { deriveKey, openKey, sealKey } from './session-key.ts'
import { settleClaims, withClaims } from './to-session.ts'

/** How a second factor was proven; added to the `amr` of the session. */
export type SecondFactorMethod = 'totp' | 'mfa/phone' | 'mfa/webauthn' | 'recovery_code'

/** What the access token of the raised session says, settled before its transaction began. */
export interface ApprovedUpgrade {
  method: SecondFactorMethod
  /** The operator's; undefined without a hook. */
  claims: HookClaims | undefined
}

export interface SecondFactorProof {
  approval: ApprovedUpgrade
  /** The factor that was proven, when it is one. */
  factorId?: string
}

/**
 * Asks the operator's hook for the claims of the session as it will be, when the second factor is known to be right and
 * nothing was changed by it: where the hook refuses or fails, the session stays at its level, and the proof may be shown
 * again. Never inside a transaction. Throws HookError.
 */
export async function approveUpgrade(
  house: House<'hooks' | 'jwt'>,
  session: SessionRecord,
  { method, ip }: { method: SecondFactorMethod; ip: string },
  now: Date,
): Promise<ApprovedUpgrade> {
  if (!house.hooks.customizeAccessToken) return { method, claims: undefined }
  const others = session.amr.filter((claim) => claim.method !== method)
  const amr = [{ method, timestamp: Math.floor(now.getTime() / 1000) }, ...others]
  // A second factor is proven by the person alone, never by an admin in their place.
  const raised = { ...session, aal: 'aal2' as const, amr, impersonated_by: null }
  const facts = { person: session, session: raised, method, ip }
  return { method, claims: await settleClaims(house, facts, now) }
}

/**
 * Raises the session to aal2. The refresh token from before ends the session when it comes back, and the person's other
 * sessions below aal2 are over. The caller holds the lock of the person. Throws session_not_found, session_expired,
 * invalid_client or token_too_large.
 */
export async function upgrade(
  house: House<'bearerAuth' | 'encryption' | 'events' | 'jwt' | 'telemetry'>,
  trx: Trx,
  session: SessionRecord,
  { approval: { method, claims }, factorId }: SecondFactorProof,
  now: Date,
): Promise<Session> {
  const { id: userId, session_id: sessionId } = session
  const limit = house.bearerAuth.sessionPolicy.expiredBy(session, now)
  // The factor that was owed was just proven.
  if (limit && limit !== 'low_aal') throw sessionInvalid()
  // It would take its place back, with new tokens.
  if (await isReplaced(house, trx, session, now)) throw sessionInvalid()
  if (session.oauth_client_id) throw oauthSession()
  const newKey = sealKey(house, sessionId, deriveKey(house, sessionId))
  const proof = { sessionId, userId, method, factorId: factorId ?? null, newKey }
  if (!(await raiseSession(trx, proof, now))) throw sessionNotFound()
  await tellEnded(house, trx, userId, await deleteLowSessions(trx, userId, sessionId), now)
  const raised = await findSessionById(trx, sessionId)
  if (!raised) throw sessionNotFound()
  house.telemetry.metrics.count('postern.sign_ins', { method, outcome: 'accepted' })
  const key = openKey(house, sessionId, raised.refresh_token_hmac_key ?? newKey)
  const refreshToken = encodeRefreshToken(sessionId, raised.refresh_token_counter ?? 0, key)
  const said = claims ?? house.jwt.claimsOf(raised, raised, now)
  return withClaims(house, { person: raised, refreshToken }, said, now)
}
