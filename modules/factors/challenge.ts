/** Creates the challenge that a factor verification must name. */
import type { Db } from '../../db/core/database.ts'
import { isForeignKeyViolation } from '../../db/core/foreign-key-violation.ts'
import { insertChallenge } from '../../db/factors/challenges.ts'
import { type FactorRecord, findFactor, findWebauthnFactors } from '../../db/factors/factors.ts'
import type { ChallengeableFactorType } from '../../db/tables/factors.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { mfaFactorNotFound, sessionNotFound, validationFailed } from '../../schemas/errors.ts'
import { createAuditEntry } from '../audit/index.ts'
import { requireVerify } from './factor-types.ts'
import { sendCode } from './phone.ts'
import { requireAnotherClass } from './two-classes.ts'
import { ceremonyFor, createSessionData } from './webauthn-options.ts'

type ChallengeDeps = Deps<
  'audit' | 'config' | 'credentials' | 'encryption' | 'otp' | 'sms' | 'passkeys'
>

/** A factor that is verified by a challenge. */
export interface ChallengeableFactor extends FactorRecord {
  factor_type: ChallengeableFactorType
}

/**
 * Returns a factor of the user. Throws mfa_factor_not_found, also for an unverified one of another session, and
 * validation_failed for recovery codes, which have no challenge.
 */
export async function findOwnFactor(
  db: Db,
  { user, session }: SessionAuth,
  id: string,
): Promise<ChallengeableFactor> {
  const factor = await findFactor(db, user.id, id)
  const isOfOtherSession = factor?.enrolled_in && factor.enrolled_in !== session.session_id
  if (!factor || (factor.status === 'unverified' && isOfOtherSession)) throw mfaFactorNotFound()
  const { factor_type } = factor
  if (factor_type === 'recovery_code') {
    throw validationFailed('Verify recovery codes with POST /factors/recovery-codes/verify')
  }
  return { ...factor, factor_type }
}

/**
 * Creates a challenge, and sends the code of a phone factor. Throws mfa_factor_not_found, mfa_..._verify_not_enabled,
 * insufficient_aal for a factor of the class that authenticated the session, validation_failed for a channel,
 * over_sms_send_rate_limit, sms_send_failed, unexpected_failure, or session_not_found when the session has ended.
 */
export async function challengeFactor(
  deps: ChallengeDeps,
  db: Db,
  auth: SessionAuth,
  input: { factorId: string; channel: string | undefined; ip: string },
  now: Date,
) {
  const factor = await findOwnFactor(db, auth, input.factorId)
  const { id: factorId, factor_type: type } = factor
  requireVerify(deps, type)
  await requireAnotherClass(db, auth, type, now)
  const id = crypto.randomUUID()
  const { code, webauthn } = await prepare(deps, db, auth, factor, { ...input, id }, now)
  const made = {
    id,
    factorId,
    userId: auth.user.id,
    sessionId: auth.session.session_id,
    ip: input.ip,
    code,
    ...(webauthn && {
      ceremony: webauthn.type,
      challenge: webauthn.publicKey.challenge,
      sessionData: createSessionData(deps, auth.user.id, webauthn, now),
    }),
  }
  const traits = { factor_id: factorId, challenge_id: id, factor_type: type }
  const entry = createAuditEntry(deps.audit, 'challenge_created', auth.user, input.ip, traits)
  const isMade = await insertChallenge(db, made, entry, now).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  if (!isMade) throw mfaFactorNotFound()
  const expiry = now.getTime() / 1000 + deps.config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION
  return {
    id,
    type,
    expires_at: Math.floor(expiry),
    ...(webauthn && {
      webauthn: {
        type: webauthn.type,
        credential_options: { publicKey: { ...webauthn.publicKey } },
      },
    }),
  }
}

/** The content of the challenge: an SMS code, or WebAuthn options. */
async function prepare(
  deps: ChallengeDeps,
  db: Db,
  { user }: SessionAuth,
  factor: ChallengeableFactor,
  { id, channel }: { id: string; channel: string | undefined },
  now: Date,
) {
  if (factor.factor_type === 'webauthn') {
    const verified = await findWebauthnFactors(db, user.id)
    return { code: '', webauthn: await ceremonyFor(deps, user, factor, verified) }
  }
  if (factor.factor_type === 'totp') return { code: '', webauthn: undefined }
  const way = { challengeId: id, channel: deps.sms.parseChannel(channel) }
  return { code: await sendCode(deps, db, { factor, user }, way, now), webauthn: undefined }
}
