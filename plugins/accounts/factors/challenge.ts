/** Asking for a proof of a factor: the challenge that an answer must name. */
import type { Db } from '../../../db/database.ts'
import { insertChallenge } from '../../../db/factor-challenges.ts'
import { type FactorRecord, findFactor, findWebauthnFactors } from '../../../db/factors.ts'
import { isForeignKeyViolation } from '../../../db/foreign-key-violation.ts'
import { mfaFactorNotFound, sessionNotFound } from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { requireVerify } from './factor-types.ts'
import { sendCode } from './phone.ts'
import { ceremonyFor, sessionDataOf } from './webauthn-options.ts'

type ChallengeHouse = House<'audit' | 'config' | 'encryption' | 'otp' | 'sms' | 'webauthn'>

/**
 * A factor of the person. Throws mfa_factor_not_found; also for one that another session added and has not yet
 * confirmed.
 */
export async function findOwn(db: Db, { user, session }: Member, id: string) {
  const factor = await findFactor(db, user.id, id)
  const isElsewhere = factor?.enrolled_in && factor.enrolled_in !== session.session_id
  if (!factor || (factor.status === 'unverified' && isElsewhere)) throw mfaFactorNotFound()
  return factor
}

/**
 * Makes a challenge, and sends the code of a phone factor. Throws mfa_factor_not_found, mfa_..._verify_not_enabled,
 * validation_failed for a channel, over_sms_send_rate_limit, sms_send_failed, unexpected_failure, or session_not_found when
 * it ended meanwhile.
 */
export async function challenge(
  house: ChallengeHouse,
  db: Db,
  member: Member,
  asked: { factorId: string; channel: string | undefined; ip: string },
  now: Date,
) {
  const factor = await findOwn(db, member, asked.factorId)
  const { id: factorId, factor_type: type } = factor
  requireVerify(house, type)
  const id = crypto.randomUUID()
  const { code, webauthn } = await prepare(house, db, member, factor, { ...asked, id }, now)
  const made = {
    id,
    factorId,
    userId: member.user.id,
    sessionId: member.session.session_id,
    ip: asked.ip,
    code,
    ...(webauthn && {
      ceremony: webauthn.type,
      challenge: webauthn.publicKey.challenge,
      sessionData: sessionDataOf(house, member.user.id, webauthn, now),
    }),
  }
  const traits = { factor_id: factorId, challenge_id: id, factor_type: type }
  const entry = house.audit.entry('challenge_created', member.user, asked.ip, traits)
  const isMade = await insertChallenge(db, made, entry, now).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  if (!isMade) throw mfaFactorNotFound()
  const expiry = now.getTime() / 1000 + house.config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION
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

/** What goes out with the challenge: a text message, or what the browser is asked to do. */
async function prepare(
  house: ChallengeHouse,
  db: Db,
  { user }: Member,
  factor: FactorRecord,
  { id, channel }: { id: string; channel: string | undefined },
  now: Date,
) {
  if (factor.factor_type === 'webauthn') {
    const verified = await findWebauthnFactors(db, user.id)
    return { code: '', webauthn: await ceremonyFor(house, user, factor, verified) }
  }
  if (factor.factor_type === 'totp') return { code: '', webauthn: undefined }
  const way = { challengeId: id, channel: house.sms.channelOf(channel) }
  return { code: await sendCode(house, db, { factor, user }, way, now), webauthn: undefined }
}
