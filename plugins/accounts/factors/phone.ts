/** Codes sent to a phone that is a second factor. */
import { timingSafeEqual } from 'node:crypto'

import type { Db } from '../../../db/database.ts'
import type { ChallengeRecord } from '../../../db/factor-challenges.ts'
import type { FactorRecord } from '../../../db/factors.ts'
import type { UserRecord } from '../../../db/users.ts'
import { unexpectedFailure } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

type PhoneHouse = House<'config' | 'encryption' | 'otp' | 'sms'>
type Channel = ReturnType<House<'sms'>['sms']['channelOf']>

const storedAs = 'the code of a phone factor'

/**
 * Sends a code and returns it as it is stored with the challenge. Throws over_sms_send_rate_limit, sms_send_failed,
 * and unexpected_failure without a provider. Numbers with fixed codes are no exception here: such a code is no factor.
 */
export async function sendCode(
  { config, encryption, otp, sms }: PhoneHouse,
  db: Db,
  { factor, user }: { factor: FactorRecord; user: UserRecord },
  { challengeId, channel }: { challengeId: string; channel: Channel },
  now: Date,
): Promise<string> {
  if (!sms.enabled) throw unexpectedFailure('Unable to get SMS provider')
  const phone = factor.phone ?? ''
  const address = waitingAddress(factor)
  const windowBegan = await db.transaction().execute(async (trx) => {
    await otp.claimInterval(trx, 'sms', 'factor', address, now)
    return otp.chargeQuota(trx, 'sms', now)
  })
  const code = otp.newCode(config.AUTH_MFA_PHONE_OTP_LENGTH)
  const template = config.AUTH_MFA_PHONE_TEMPLATE
  try {
    const message = { phone, code, channel, messageId: challengeId, template }
    const outgoing = { ...message, person: user, reader: user.raw_user_meta_data, isFactor: true }
    await otp.orRefund(db, windowBegan, () => sms.send(outgoing))
  } catch (error) {
    await otp.releaseInterval(db, 'sms', 'factor', address)
    throw error
  }
  return encryption.seal(challengeId, code)
}

/**
 * Until it is confirmed, the number waits, whoever named it; then the factor alone does, so that nobody can keep its
 * owner waiting by naming the number.
 */
function waitingAddress({ id, phone, status }: FactorRecord): string {
  return status === 'verified' ? `factor ${id}` : (phone ?? '')
}

/** Whether the code is right; asks the provider where that makes the codes. Throws unexpected_failure. */
export async function isRightCode(
  { encryption, sms }: House<'encryption' | 'sms'>,
  factor: FactorRecord,
  challenge: ChallengeRecord,
  code: string,
): Promise<boolean> {
  if (sms.verify) return sms.verify(factor.phone ?? '', code)
  const sent = encryption.decrypt(challenge.id, challenge.otp_code ?? '', storedAs)
  const [expected, given] = [Buffer.from(sent), Buffer.from(code)]
  return sent !== '' && expected.length === given.length && timingSafeEqual(expected, given)
}
