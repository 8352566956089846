/** A factor was proven: what that changes, and what is done about a copied security key. */
import type { Trx } from '../../../db/database.ts'
import { spendChallenge } from '../../../db/factor-challenges.ts'
import { advanceCredential, markCloned, putCredential } from '../../../db/factor-credentials.ts'
import { takeStep, verifyFactor } from '../../../db/factors.ts'
import type { FactorType } from '../../../db/mfa.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  type ApiError,
  insufficientAal,
  mfaChallengeExpired,
  mfaFactorNotFound,
  mfaIpAddressMismatch,
  mfaVerificationFailed,
} from '../../../errors.ts'
import type { Session } from '../../../schemas/session.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import type { ApprovedUpgrade } from '../sessions/upgrade.ts'
import { methods } from './factor-types.ts'
import { oldestChallenge, type Proof } from './judge.ts'
import type { KeyProof } from './webauthn.ts'

/** A right answer, and what the access token that it leads to will say. */
export interface ApprovedProof {
  proof: Proof
  approval: ApprovedUpgrade
}

/** Asks the operator's hook for the claims, before anything is changed by the proof. Throws HookError. */
export async function approve(
  { sessions }: House<'sessions'>,
  { session }: Member,
  proof: Proof,
  { ip, now }: { ip: string; now: Date },
): Promise<ApprovedProof> {
  const method = methods[proof.factor.factor_type]
  return { proof, approval: await sessions.approveUpgrade(session, { method, ip }, now) }
}

type AcceptHouse = House<
  'audit' | 'bearerAuth' | 'config' | 'emails' | 'events' | 'log' | 'sessions'
>

/**
 * Spends the challenge, counts the factor as verified and raises the session. Undefined when the code was accepted before,
 * and a refusal, which is to be committed, when the counter of a key was. Throws user_not_found, user_banned,
 * session_not_found, mfa_factor_not_found when it was removed meanwhile, mfa_challenge_expired when it has got a key
 * meanwhile, mfa_ip_address_mismatch when another request was first, and insufficient_aal for a new factor where another
 * one is owed.
 */
export async function accept(
  house: AcceptHouse,
  trx: Trx,
  member: Member,
  { proof, approval }: ApprovedProof,
  at: { ip: string; now: Date },
): Promise<Session | ApiError | undefined> {
  const { audit, bearerAuth, sessions } = house
  const { ip, now } = at
  const held = await bearerAuth.holdMember(trx, member, now)
  const { user, session } = held
  const { challenge } = proof
  const { id: factor_id, factor_type, status } = findProven(user, proof)
  const isNew = status === 'unverified'
  // The session may have fallen back to aal1 since it began to add the factor.
  if (isNew && !bearerAuth.isConfirmed(held, now)) {
    throw insufficientAal('AAL2 required to enroll a new factor', 403)
  }
  if ('step' in proof && !(await takeStep(trx, factor_id, proof.step))) return undefined
  if ('key' in proof && !(await takeKey(trx, proof.key, now))) {
    return refuseClone(house, trx, member, proof.key, at)
  }
  if (!(await spendChallenge(trx, challenge.id, oldestChallenge(house, now), now))) {
    throw mfaIpAddressMismatch()
  }
  await verifyFactor(trx, { id: factor_id, user_id: user.id, factor_type }, now)
  const traits = { factor_id, challenge_id: challenge.id, factor_type }
  await audit.record(trx, 'verification_attempted', user, { ip, now, traits })
  if (isNew) await tellEnrolled(house, trx, user, { factor_id, factor_type }, now)
  return sessions.upgrade(trx, session, { approval, factorId: factor_id }, now)
}

/** False when an answer with this counter, or a later one, was accepted since it was judged. */
async function takeKey(
  trx: Trx,
  { factor, credential, aaguid, isNew }: KeyProof,
  now: Date,
): Promise<boolean> {
  const put = { credential, aaguid }
  const counter = credential.authenticator.signCount
  if (!isNew) return advanceCredential(trx, factor.id, { ...put, counter }, now)
  await putCredential(trx, factor.id, put, now)
  return true
}

/** The factor as it is now. Throws mfa_factor_not_found, and mfa_challenge_expired for a key in the place of its own. */
function findProven({ factors }: UserRecord, proof: Proof) {
  const { id } = 'key' in proof ? proof.key.factor : proof.factor
  const proven = factors.find((factor) => factor.id === id)
  if (!proven) throw mfaFactorNotFound()
  const replacesKey = 'key' in proof && proof.key.isNew && proven.status === 'verified'
  if (replacesKey) throw mfaChallengeExpired()
  return proven
}

async function tellEnrolled(
  { emails, events }: House<'emails' | 'events'>,
  trx: Trx,
  user: UserRecord,
  enrolled: { factor_id: string; factor_type: FactorType },
  now: Date,
): Promise<void> {
  await events.record(trx, 'factor.enrolled', user.id, enrolled, now)
  const kind = 'mfa_factor_enrolled_notification'
  await emails.notify(trx, user, { kind, FactorType: enrolled.factor_type }, now)
}

/** A key whose counter went back exists twice: it is refused, written down and told to the person. Returns the refusal. */
export async function refuseClone(
  { audit, emails, log }: House<'audit' | 'emails' | 'log'>,
  trx: Trx,
  { user }: Member,
  { factor }: KeyProof,
  { ip, now }: { ip: string; now: Date },
): Promise<ApiError> {
  const traits = { factor_id: factor.id, factor_type: factor.factor_type, reason: 'cloned' }
  log.warn({ factor_id: factor.id }, 'a security key was refused: its counter went back')
  await markCloned(trx, factor.id, now)
  await audit.record(trx, 'factor_refused', user, { ip, now, traits })
  await emails.notify(trx, user, { kind: 'security_key_refused_notification' }, now)
  return mfaVerificationFailed('The security key was refused: there may be a copy of it')
}
