/** Applies a factor verification, and handles cloned security keys. */
import type { Trx } from '../../db/core/database.ts'
import { consumeChallenge } from '../../db/factors/challenges.ts'
import {
  markSignCountRegression,
  updateSignCount,
  upsertCredential,
} from '../../db/factors/credentials.ts'
import { advanceTotpCounter, verifyFactor } from '../../db/factors/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  type ApiError,
  mfaChallengeExpired,
  mfaFactorNotFound,
  mfaIpAddressMismatch,
  mfaVerificationFailedError,
} from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { recordNewMethod, requireVerifiedFactor } from '../credentials/index.ts'
import { notifyUser } from '../emails/index.ts'
import { permitStepUp, stepUpToAal2 } from '../sessions/index.ts'
import type { PrecomputedClaims } from '../sessions/step-up.ts'
import { methods } from './factor-types.ts'
import { notifyEnrolled } from './notify-enrolled.ts'
import { requireAnotherClass } from './two-classes.ts'
import { type FactorVerification, oldestChallenge } from './verify.ts'
import type { WebAuthnAssertionResult } from './webauthn.ts'

/** A correct response with the claims of the resulting access token. */
interface AuthorizedFactorVerification {
  verification: FactorVerification
  permit: PrecomputedClaims
}

/** Calls the access token hook before the transaction. Throws HookError. */
export async function precomputeFactorClaims(
  { sessions }: Deps<'sessions'>,
  { session }: SessionAuth,
  verification: FactorVerification,
  { ip, now }: AuditContext,
): Promise<AuthorizedFactorVerification> {
  const method = methods[verification.factor.factor_type]
  return { verification, permit: await permitStepUp(sessions, session, { method, ip }, now) }
}

type AcceptDeps = Deps<
  'audit' | 'bearerAuth' | 'config' | 'credentials' | 'emails' | 'events' | 'log' | 'sessions'
>

/**
 * Consumes the challenge, marks the factor as verified and steps the session up. Returns undefined when the code was
 * accepted before. Returns a rejection, which must be committed, when the signature counter of a key was accepted
 * before. Throws user_not_found, user_banned, session_not_found, mfa_factor_not_found when the factor was deleted
 * since, mfa_challenge_expired when its credential was replaced, mfa_ip_address_mismatch when another request was
 * first, and insufficient_aal for a new factor where another one is required, and for one of the class that
 * authenticated the session.
 */
export async function completeFactorVerification(
  deps: AcceptDeps,
  trx: Trx,
  auth: SessionAuth,
  { verification, permit }: AuthorizedFactorVerification,
  at: AuditContext,
): Promise<Session | ApiError | undefined> {
  const { audit, bearerAuth, credentials, sessions } = deps
  const { ip, now } = at
  const current = await bearerAuth.reauthorizeSession(trx, auth, now)
  const { user, session } = current
  const { challenge } = verification
  const { id: factor_id, factor_type, status } = findVerifiedFactor(user, verification)
  const isNew = status === 'unverified'
  // The session may have dropped to aal1 since the enrollment.
  if (isNew) requireVerifiedFactor(credentials, current, 'factor', now)
  await requireAnotherClass(trx, current, factor_type, now)
  if ('step' in verification && !(await advanceTotpCounter(trx, factor_id, verification.step))) {
    return undefined
  }
  if ('key' in verification && !(await updateKey(trx, verification.key, now))) {
    return rejectClonedAuthenticator(deps, trx, auth, verification.key, at)
  }
  if (!(await consumeChallenge(trx, challenge.id, oldestChallenge(deps, now), now))) {
    throw mfaIpAddressMismatch()
  }
  await verifyFactor(trx, { id: factor_id, user_id: user.id, factor_type }, now)
  const traits = { factor_id, challenge_id: challenge.id, factor_type }
  await recordAudit(audit, trx, 'verification_attempted', user, { ip, now, traits })
  if (isNew) {
    await recordNewMethod(trx, user, 'factor', now)
    await notifyEnrolled(deps, trx, user, { factor_id, factor_type, isNew }, now)
  }
  return stepUpToAal2(sessions, trx, session, { permit, factorId: factor_id }, now)
}

/** False when a response with this counter, or a later one, was accepted since the verification. */
async function updateKey(
  trx: Trx,
  { factor, credential, aaguid, isNew }: WebAuthnAssertionResult,
  now: Date,
): Promise<boolean> {
  const values = { credential, aaguid }
  const counter = credential.authenticator.signCount
  if (!isNew) return updateSignCount(trx, factor.id, { ...values, counter }, now)
  await upsertCredential(trx, factor.id, values, now)
  return true
}

/** The current factor. Throws mfa_factor_not_found, and mfa_challenge_expired for a replaced credential. */
function findVerifiedFactor({ factors }: UserRecord, verification: FactorVerification) {
  const { id } = 'key' in verification ? verification.key.factor : verification.factor
  const factor = factors.find((each) => each.id === id)
  if (!factor) throw mfaFactorNotFound()
  const replacesKey =
    'key' in verification && verification.key.isNew && factor.status === 'verified'
  if (replacesKey) throw mfaChallengeExpired()
  return factor
}

/**
 * A decreased signature counter means a cloned authenticator: it is rejected, recorded, and the user is notified.
 * Returns the rejection.
 */
export async function rejectClonedAuthenticator(
  { audit, emails, log }: Deps<'audit' | 'emails' | 'log'>,
  trx: Trx,
  { user }: SessionAuth,
  { factor }: WebAuthnAssertionResult,
  { ip, now }: AuditContext,
): Promise<ApiError> {
  const traits = { factor_id: factor.id, factor_type: factor.factor_type, reason: 'cloned' }
  log.warn({ factor_id: factor.id }, 'security key rejected: its signature counter decreased')
  await markSignCountRegression(trx, factor.id, now)
  await recordAudit(audit, trx, 'factor_refused', user, { ip, now, traits })
  await notifyUser(emails, trx, user, { kind: 'security_key_refused_notification' }, now)
  return mfaVerificationFailedError('The security key was rejected: it may have been cloned')
}
