/**
 * What anybody may ask to be texted to a number: a code to sign in with. It goes to every number, so it is sent at once;
 * a code once more goes to some numbers only, so that a worker sends it: see repeat.ts.
 */
import type { Db, Trx } from '../../../db/database.ts'
import { findUserByPhone, type Metadata } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Channel, SentCode, SmsRequest } from '../otp/sms-otp.ts'
import type { Registration } from '../users/register.ts'

export interface SignInRequest {
  /** E.164 digits without the plus sign. */
  phone: string
  channel: Channel
  aud: string
  /** For a person who is signed up by this. */
  data: Metadata
  ip: string
}

/**
 * Sends a code to sign in with; nothing, in the same time, to a number that may not sign up. Throws
 * over_sms_send_rate_limit, sms_send_failed or unexpected_failure.
 */
export async function sendSignInCode(
  { config, otp }: House<'config' | 'otp'>,
  db: Db,
  { phone, channel, aud }: SignInRequest,
  now: Date,
): Promise<SentCode | undefined> {
  const wanted: SmsRequest = { purpose: 'confirmation', interval: 'signup', phone, channel }
  const isWelcome = !config.AUTH_DISABLE_SIGNUP || (await findUserByPhone(db, phone, aud))
  if (isWelcome) return otp.sendSms(db, wanted, now)
  await otp.rehearseSms(db, { ...wanted, isCounted: false }, now)
  return undefined
}

/** The code counts for whoever has the number, or for the new person who has it from now on. */
export async function acceptSignInCode(
  { audit, otp, users }: House<'audit' | 'otp' | 'users'>,
  trx: Trx,
  request: SignInRequest,
  sent: SentCode,
  now: Date,
): Promise<void> {
  const { phone, aud, ip } = request
  const signedUp = await signUp({ users }, trx, request, now)
  const person = signedUp?.user ?? (await findUserByPhone(trx, phone, aud))
  if (!person) return
  await otp.storeSms(trx, person.id, sent, now)
  if (signedUp) await users.keepForProof(trx, signedUp, now)
  const action = signedUp ? 'user_confirmation_requested' : 'user_recovery_requested'
  await audit.record(trx, action, person, { ip, now })
}

/** Nobody has proven this number: whoever asks is signed up without a password, by the proof if there is an account. */
async function signUp(
  { users }: House<'users'>,
  trx: Trx,
  { phone, aud, data }: SignInRequest,
  now: Date,
): Promise<Registration | undefined> {
  const contact = { provider: 'phone' as const, address: phone }
  const registrant = { contact, aud, passwordHash: null, data, byAdmin: false }
  const registered = await users.register(trx, registrant, now)
  if (!registered || registered.claim || !users.phoneAutoconfirm) return registered
  return { user: await users.provePhone(trx, registered.user.id, { inMetadata: true }, now) }
}
