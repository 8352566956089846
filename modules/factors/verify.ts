/** Verifies a challenge response, before any change. */
import type { Db } from '../../db/core/database.ts'
import {
  type ChallengeRecord,
  deleteChallenge,
  findChallenge,
} from '../../db/factors/challenges.ts'
import { findWebauthnFactors } from '../../db/factors/factors.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  mfaChallengeExpired,
  mfaChallengeNotFound,
  mfaIpAddressMismatch,
  validationFailed,
} from '../../schemas/errors.ts'
import { type ChallengeableFactor, findOwnFactor } from './challenge.ts'
import { requireVerify } from './factor-types.ts'
import { isCorrectCode } from './phone.ts'
import { decryptTotpSecret, findTotpStep } from './totp.ts'
import {
  type CredentialResponse,
  verifyWebAuthnResponse,
  type WebAuthnAssertionResult,
} from './webauthn.ts'

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

export type FactorVerification = FactorChallenge &
  ({ step: number } | { key: WebAuthnAssertionResult } | { byCode: true })

/**
 * Loads the challenge. Throws validation_failed, mfa_factor_not_found, mfa_..._verify_not_enabled,
 * mfa_ip_address_mismatch or mfa_challenge_expired.
 */
export async function loadFactorChallenge(
  deps: Deps<'config'>,
  db: Db,
  auth: SessionAuth,
  response: ChallengeResponse,
  now: Date,
): Promise<FactorChallenge> {
  const factor = await findOwnFactor(db, auth, response.factorId)
  requireVerify(deps, factor.factor_type)
  checkForm(factor, response)
  const sessionId = auth.session.session_id
  const key = { id: response.challengeId, factorId: factor.id, sessionId }
  const challenge = await findChallenge(db, key, response.ip)
  if (!challenge) throw mfaChallengeNotFound()
  if (challenge.verified_at || !challenge.is_same_address) throw mfaIpAddressMismatch()
  if (challenge.created_at <= oldestChallenge(deps, now)) {
    await deleteChallenge(db, challenge.id, auth.user.id)
    throw mfaChallengeExpired()
  }
  return { factor, challenge }
}

export function oldestChallenge({ config }: Deps<'config'>, now: Date): Date {
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
  deps: Deps<'encryption' | 'sms' | 'passkeys'>,
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
      key: await verifyWebAuthnResponse(deps, factor, challenge, credential, verified),
    }
  }
  // Apps show the digits in groups.
  const typed = code.replaceAll(' ', '')
  if (factor.factor_type === 'phone') {
    return (await isCorrectCode(deps, factor, challenge, typed))
      ? { ...challenged, byCode: true }
      : undefined
  }
  const step = findTotpStep(await decryptTotpSecret(deps, db, factor), typed, now)
  return step === undefined ? undefined : { ...challenged, step }
}
