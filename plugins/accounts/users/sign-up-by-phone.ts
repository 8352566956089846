/** Signing up by phone: a new number, one that nobody has proven yet, or one that is taken. */
import { sql } from 'kysely'

import type { Db, Trx } from '../../../db/database.ts'
import { findPhoneHolder } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Channel, SentCode, SmsRequest } from '../otp/sms-otp.ts'
import { asNew } from './as-new.ts'
import type { CreateHouse } from './create.ts'
import { decoyByPhone } from './decoy.ts'
import { keepForProof } from './pending-sign-up.ts'
import { isUnclaimed, register } from './register.ts'
import { repeatedBy, type SignUpAtOnce, type SignUpOutcome } from './sign-up-at-once.ts'

export interface PhoneSignUp extends SignUpAtOnce {
  channel: Channel
}

type SignUpHouse = CreateHouse & House<'audit' | 'otp' | 'sessions'>

/**
 * Sends the code; to a taken number nothing, in the same time. Throws over_sms_send_rate_limit,
 * sms_send_failed or unexpected_failure.
 */
export async function askPhoneSignUp(
  { otp }: House<'otp'>,
  db: Db,
  { person, channel }: PhoneSignUp,
  now: Date,
): Promise<SentCode | undefined> {
  const { contact, aud, data: metadata } = person
  const phone = contact.address
  const purpose = { purpose: 'confirmation', interval: 'signup' } as const
  const request: SmsRequest = { ...purpose, phone, channel, owner: { audience: aud, metadata } }
  const owner = await findPhoneHolder(db, contact.address, aud)
  if (!owner || isUnclaimed(owner, contact)) return otp.sendSms(db, request, now)
  // Counted like a message that is sent, so that what is left of the quota tells nothing.
  await otp.rehearseSms(db, { ...request, isCounted: true }, now)
  return undefined
}

/** Registers whoever the code was sent to; `sent` is what `askPhoneSignUp` returned. */
export async function signUpByPhone(
  house: SignUpHouse,
  trx: Trx,
  signUp: PhoneSignUp,
  sent: SentCode | undefined,
  now: Date,
): Promise<SignUpOutcome> {
  const { audit, otp } = house
  // New or taken, the same statements run: only whether they are kept differs.
  await sql`savepoint sign_up`.execute(trx)
  const registered = sent && (await register(house, trx, signUp.person, now))
  if (!registered) return taken(house, trx, signUp, now)
  const { user } = registered
  await otp.storeSms(trx, user.id, sent, now)
  await keepForProof(trx, registered, now)
  await sql`release savepoint sign_up`.execute(trx)
  await audit.record(trx, 'user_confirmation_requested', user, { ip: signUp.ip, now })
  return { state: 'to be confirmed', user: asNew(house, user, signUp.person.contact, now) }
}

async function taken(
  house: SignUpHouse,
  trx: Trx,
  { person, ip }: PhoneSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const owner = await findPhoneHolder(trx, person.contact.address, person.aud)
  // Where email addresses are confirmed at once, a client can tell taken ones anyway.
  const reveal = house.config.AUTH_MAILER_AUTOCONFIRM
  const decoy = reveal ? undefined : await decoyByPhone(house, trx, person, now)
  return repeatedBy(house, trx, owner, decoy, { ip, now })
}
