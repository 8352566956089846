/** Applies a factor verification, and handles cloned security keys. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  type ChallengeRecord,
  consumeChallenge,
  deleteChallenge,
  findChallenge,
} from '../../db/factors/challenges.ts'
import {
  advanceTotpCounter,
  findWebauthnFactors,
  markSignCountRegression,
  updateSignCount,
  upsertCredential,
  verifyFactor,
} from '../../db/factors/factors.ts'
import type { FactorType } from '../../db/tables/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  type ApiError,
  mfaChallengeExpired,
  mfaChallengeNotFound,
  mfaFactorNotFound,
  mfaIpAddressMismatch,
  mfaVerificationFailedError,
  validationFailed,
} from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { readTypedCode } from '../../schemas/values/typed-code.ts'
import { recordAccess, requireVerifiedFactor } from '../access/index.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { permitStepUp, stepUpToAal2 } from '../sessions/index.ts'
import type { PrecomputedClaims } from '../sessions/step-up.ts'
import { type ChallengeableFactor, findOwnFactor, requireAnotherClass } from './challenge.ts'
import { methods, requireVerify } from './factor-types.ts'
import { isCorrectCode } from './phone.ts'
import { decryptTotpSecret, findTotpStep } from './totp.ts'
import {
  type CredentialResponse,
  verifyWebAuthnResponse,
  type WebAuthnAssertionResult,
} from './webauthn.ts'

/** A correct response with the claims of the resulting access token. */
interface AuthorizedFactorVerification {
  verification: FactorVerification
  permit: PrecomputedClaims
}

/** Calls the access token hook before the transaction. Throws HookError. */
export async function precomputeFactorClaims(
  app: FastifyInstance,
  { session }: SessionAuth,
  verification: FactorVerification,
  { ip, now }: AuditContext,
): Promise<AuthorizedFactorVerification> {
  const method = methods[verification.factor.factor_type]
  return { verification, permit: await permitStepUp(app, session, { method, ip }, now) }
}

/**
 * Consumes the challenge, marks the factor as verified and steps the session up. Returns undefined when the code was
 * accepted before. Returns a rejection, which must be committed, when the signature counter of a key was accepted
 * before. Throws user_not_found, user_banned, session_not_found, mfa_factor_not_found when the factor was deleted
 * since, mfa_challenge_expired when its credential was replaced, mfa_ip_address_mismatch when another request was
 * first, and insufficient_aal for a new factor where another one is required, and for one of the class that
 * authenticated the session.
 */
export async function completeFactorVerification(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  { verification, permit }: AuthorizedFactorVerification,
  at: AuditContext,
): Promise<Session | ApiError | undefined> {
  const { audit, bearerAuth } = app
  const { ip, now } = at
  const current = await bearerAuth.reauthorizeSession(trx, auth, now)
  const { user, session } = current
  const { challenge } = verification
  const { id: factor_id, factor_type, status } = findVerifiedFactor(user, verification)
  const isNew = status === 'unverified'
  // The session may have dropped to aal1 since the enrollment.
  if (isNew) requireVerifiedFactor(app, current, 'factor', now)
  await requireAnotherClass(trx, current, factor_type, now)
  if ('step' in verification && !(await advanceTotpCounter(trx, factor_id, verification.step))) {
    return undefined
  }
  if ('key' in verification && !(await updateKey(trx, verification.key, now))) {
    return rejectClonedAuthenticator(app, trx, auth, verification.key, at)
  }
  if (!(await consumeChallenge(trx, challenge.id, oldestChallenge(app, now), now))) {
    throw mfaIpAddressMismatch()
  }
  await verifyFactor(trx, { id: factor_id, user_id: user.id, factor_type }, now)
  const traits = { factor_id, challenge_id: challenge.id, factor_type }
  await recordAudit(audit, trx, 'verification_attempted', user, { ip, now, traits })
  if (isNew) {
    await recordEnrolled(app, trx, user, { factor_id, factor_type }, now)
  }
  return stepUpToAal2(app, trx, session, { permit, factorId: factor_id }, now)
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
  app: FastifyInstance,
  trx: Trx,
  { user }: SessionAuth,
  { factor }: WebAuthnAssertionResult,
  { ip, now }: AuditContext,
): Promise<ApiError> {
  const traits = { factor_id: factor.id, factor_type: factor.factor_type, reason: 'cloned' }
  app.log.warn({ factor_id: factor.id }, 'security key rejected: its signature counter decreased')
  await markSignCountRegression(trx, factor.id, now)
  await recordAudit(app.audit, trx, 'factor_refused', user, { ip, now, traits })
  await notifyUser(app, trx, user, { kind: 'security_key_refused_notification' }, now)
  return mfaVerificationFailedError('The security key was rejected: it may have been cloned')
}

// A new factor is new access.

/** Emits the event and records the access of a new factor. */
async function recordEnrolled(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  enrolled: { factor_id: string; factor_type: FactorType },
  now: Date,
): Promise<void> {
  await app.events.record(trx, 'factor.enrolled', user.id, enrolled, now)
  const factorType = enrolled.factor_type
  await recordAccess(app, trx, { user, grant: { kind: 'factor', factorType } }, now)
}

// Verifies a challenge response, before any change.

/** The response of the client. */
export interface ChallengeResponse {
  factorId: string
  challengeId: string
  code: string | undefined
  credential: CredentialResponse | undefined
  ip: string
}

/** A factor and its open challenge. */
export interface FactorChallenge {
  factor: ChallengeableFactor
  challenge: ChallengeRecord
}

type FactorVerification = FactorChallenge &
  ({ step: number } | { key: WebAuthnAssertionResult } | { byCode: true })

/**
 * Loads the challenge. Throws validation_failed, mfa_factor_not_found, mfa_..._verify_not_enabled,
 * mfa_ip_address_mismatch or mfa_challenge_expired.
 */
export async function loadFactorChallenge(
  app: FastifyInstance,
  db: Db,
  auth: SessionAuth,
  response: ChallengeResponse,
  now: Date,
): Promise<FactorChallenge> {
  const factor = await findOwnFactor(db, auth, response.factorId)
  requireVerify(app, factor.factor_type)
  checkForm(factor, response)
  const sessionId = auth.session.session_id
  const key = { id: response.challengeId, factorId: factor.id, sessionId }
  const challenge = await findChallenge(db, key, response.ip)
  if (!challenge) throw mfaChallengeNotFound()
  if (challenge.verified_at || !challenge.is_same_address) throw mfaIpAddressMismatch()
  if (challenge.created_at <= oldestChallenge(app, now)) {
    await deleteChallenge(db, challenge.id, auth.user.id)
    throw mfaChallengeExpired()
  }
  return { factor, challenge }
}

function oldestChallenge({ config }: FastifyInstance, now: Date): Date {
  return new Date(now.getTime() - config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION * 1000)
}

function checkForm(
  { factor_type }: ChallengeableFactor,
  { code, credential }: ChallengeResponse,
): void {
  if (factor_type === 'webauthn') {
    if (!credential) throw validationFailed('A WebAuthn factor needs a credential_response')
  } else if (!code) {
    throw validationFailed('Code needs to be non-empty')
  }
}

/**
 * Verifies the response; undefined for a wrong code. Outside of a transaction, since a provider may be slow. Throws
 * mfa_verification_failed or validation_failed for a security key, unexpected_failure for a provider.
 */
export async function verifyChallengeResponse(
  app: FastifyInstance,
  db: Db,
  challenged: FactorChallenge,
  { code = '', credential }: Pick<ChallengeResponse, 'code' | 'credential'>,
  now: Date,
): Promise<FactorVerification | undefined> {
  const { factor, challenge } = challenged
  if (factor.factor_type === 'webauthn') {
    if (!credential) return undefined
    const verified = await findWebauthnFactors(db, factor.user_id)
    return {
      ...challenged,
      key: await verifyWebAuthnResponse(app, factor, challenge, credential, verified),
    }
  }
  const typed = readTypedCode(code)
  if (factor.factor_type === 'phone') {
    return (await isCorrectCode(app, factor, challenge, typed))
      ? { ...challenged, byCode: true }
      : undefined
  }
  const step = findTotpStep(await decryptTotpSecret(app, db, factor), typed, now)
  return step === undefined ? undefined : { ...challenged, step }
}
