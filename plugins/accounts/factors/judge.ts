/** Judging an answer to a challenge, before anything is changed by it. */
import type { Db } from '../../../db/database.ts'
import {
  type ChallengeRecord,
  deleteChallenge,
  findChallenge,
} from '../../../db/factor-challenges.ts'
import { type FactorRecord, findWebauthnFactors } from '../../../db/factors.ts'
import {
  mfaChallengeExpired,
  mfaChallengeNotFound,
  mfaIpAddressMismatch,
  validationFailed,
} from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { findOwn } from './challenge.ts'
import { requireVerify } from './factor-types.ts'
import { isRightCode } from './phone.ts'
import { openSecret, stepOf } from './totp.ts'
import { type CredentialAnswer, judgeKey, type KeyProof } from './webauthn.ts'

/** What the client sends to a factor. */
export interface Answer {
  factorId: string
  challengeId: string
  code: string | undefined
  credential: CredentialAnswer | undefined
  ip: string
}

/** A factor and the open challenge that is answered. */
export interface Asked {
  factor: FactorRecord
  challenge: ChallengeRecord
}

export type Proof = Asked & ({ step: number } | { key: KeyProof } | { byCode: true })

/**
 * The challenge as it stands. Throws validation_failed, mfa_factor_not_found, mfa_..._verify_not_enabled,
 * mfa_ip_address_mismatch or mfa_challenge_expired.
 */
export async function findAsked(
  house: House<'config'>,
  db: Db,
  member: Member,
  answer: Answer,
  now: Date,
): Promise<Asked> {
  const factor = await findOwn(db, member, answer.factorId)
  requireVerify(house, factor.factor_type)
  checkForm(factor, answer)
  const sessionId = member.session.session_id
  const key = { id: answer.challengeId, factorId: factor.id, sessionId }
  const challenge = await findChallenge(db, key, answer.ip)
  if (!challenge) throw mfaChallengeNotFound()
  if (challenge.verified_at || !challenge.is_same_address) throw mfaIpAddressMismatch()
  if (challenge.created_at <= oldestChallenge(house, now)) {
    await deleteChallenge(db, challenge.id, member.user.id)
    throw mfaChallengeExpired()
  }
  return { factor, challenge }
}

export function oldestChallenge({ config }: House<'config'>, now: Date): Date {
  return new Date(now.getTime() - config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION * 1000)
}

function checkForm({ factor_type }: FactorRecord, { code, credential }: Answer): void {
  if (factor_type === 'webauthn') {
    if (!credential) throw validationFailed('A WebAuthn factor needs a credential_response')
  } else if (!code) {
    throw validationFailed('Code needs to be non-empty')
  }
}

/**
 * Whether the answer is right; undefined for a wrong code. Outside of a transaction, for a provider may take its time.
 * Throws mfa_verification_failed or validation_failed for a security key, unexpected_failure for a provider.
 */
export async function judge(
  house: House<'config' | 'encryption' | 'sms' | 'webauthn'>,
  db: Db,
  asked: Asked,
  { code = '', credential }: Pick<Answer, 'code' | 'credential'>,
  now: Date,
): Promise<Proof | undefined> {
  const { factor, challenge } = asked
  if (factor.factor_type === 'webauthn') {
    if (!credential) return undefined
    const verified = await findWebauthnFactors(db, factor.user_id)
    return { ...asked, key: await judgeKey(house, factor, challenge, credential, verified) }
  }
  // Apps show the digits in groups.
  const typed = code.replaceAll(' ', '')
  if (factor.factor_type === 'phone') {
    return (await isRightCode(house, factor, challenge, typed))
      ? { ...asked, byCode: true }
      : undefined
  }
  const step = stepOf(await openSecret(house, db, factor), typed, now)
  return step === undefined ? undefined : { ...asked, step }
}
