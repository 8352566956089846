/** Codes of phone factors. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { ChallengeRecord } from '../../db/factors/challenges.ts'
import type { FactorRecord } from '../../db/factors/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { unexpectedFailure } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import {
  newCode,
  releaseInterval,
  releaseQuotaOnError,
  reserveInterval,
  reserveSendQuota,
} from '../otp/index.ts'

type Channel = ReturnType<FastifyInstance['sms']['parseChannel']>

const storedAs = 'the code of a phone factor'

/**
 * Sends a code and returns it in its stored form. Throws over_sms_send_rate_limit, sms_send_failed, and
 * unexpected_failure without a provider. Test OTPs do not apply: a fixed code is no factor.
 */
export async function sendCode(
  app: FastifyInstance,
  db: Db,
  { factor, user }: { factor: FactorRecord; user: UserRecord },
  { challengeId, channel }: { challengeId: string; channel: Channel },
  now: Date,
): Promise<string> {
  if (!app.sms.enabled) throw unexpectedFailure('Unable to get SMS provider')
  const phone = factor.phone ?? ''
  const address = waitingAddress(factor)
  const taken = await db.transaction().execute(async (trx) => {
    await reserveInterval(app, trx, 'sms', 'factor', address, now)
    const message = { purpose: 'sign_in', to: phone, network: undefined } as const
    return reserveSendQuota(app, trx, 'sms', message, now)
  })
  const code = newCode(app.config.AUTH_MFA_PHONE_OTP_LENGTH)
  try {
    const message = { phone, code, channel, messageId: challengeId }
    const outgoing = { ...message, user, reader: user.raw_user_meta_data, isFactor: true }
    await releaseQuotaOnError(app, db, taken, () => app.sms.send(outgoing))
  } catch (error) {
    await releaseInterval(app, db, 'sms', 'factor', address)
    throw error
  }
  return app.encryption.seal(challengeId, code)
}

/**
 * The minimum interval of an unverified factor is that of the number; that of a verified one is its own, so that other
 * users cannot delay its owner by naming the number.
 */
function waitingAddress({ id, phone, status }: FactorRecord): string {
  return status === 'verified' ? `factor ${id}` : (phone ?? '')
}

/** Verifies the code, at the provider where that generates codes. Throws unexpected_failure. */
export async function isCorrectCode(
  { encryption, sms }: FastifyInstance,
  factor: FactorRecord,
  challenge: ChallengeRecord,
  code: string,
): Promise<boolean> {
  if (sms.verify) return sms.verify(factor.phone ?? '', code)
  const sent = encryption.decrypt(challenge.id, challenge.otp_code ?? '', storedAs)
  return sent !== '' && isEqualInConstantTime(sent, code)
}
