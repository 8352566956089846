/**
 * What anybody may ask to be texted to a number: a code to sign in with. It goes to every number, so it is sent at once;
 * a code once more goes to some numbers only, so that a worker sends it: see repeat.ts.
 */
import type { Db, Trx } from '../../../../db/database.ts'
import { findUserByPhone, type Metadata } from '../../../../db/users.ts'
import type { House } from '../../../define-plugin.ts'
import type { Channel, SentCode, SmsRequest } from '../../otp/sms-otp.ts'
import type { Approval } from '../../users/approval.ts'
import type { Registration } from '../../users/register.ts'

export interface SignInRequest {
  /** E.164 digits without the plus sign. */
  phone: string
  channel: Channel
  aud: string
  /** For a person who is signed up by this. */
  data: Metadata
  ip: string
}

/** A code on its way, and whether it may make an account. */
interface SignInCode {
  sent: SentCode
  approval: Approval | undefined
}

/**
 * Sends a code to sign in with; nothing, in the same time, to a number that may not sign up. Throws
 * over_sms_send_rate_limit, sms_send_failed or unexpected_failure.
 */
export async function sendSignInCode(
  house: House<'config' | 'otp' | 'users'>,
  db: Db,
  request: SignInRequest,
  now: Date,
): Promise<SignInCode | undefined> {
  const { phone, channel, aud: audience, data } = request
  const person = await findUserByPhone(db, phone, audience)
  const metadata = person ? person.raw_user_meta_data : data
  const purpose = { purpose: 'confirmation', interval: 'signup' } as const
  const wanted: SmsRequest = { ...purpose, phone, channel, owner: { audience, metadata } }
  const approval = await approve(house, db, request)
  if (approval !== 'refused') return { sent: await house.otp.sendSms(db, wanted, now), approval }
  await house.otp.rehearseSms(db, { ...wanted, isCounted: false }, now)
  return undefined
}

/** Undefined for whoever needs no approval, because they have an account. */
async function approve(
  { config, users }: House<'config' | 'users'>,
  db: Db,
  request: SignInRequest,
): Promise<Approval | 'refused' | undefined> {
  const { phone, aud, ip } = request
  if (!config.AUTH_DISABLE_SIGNUP) return users.approveQuietly(db, applicantOf(request), ip)
  return (await findUserByPhone(db, phone, aud)) ? undefined : 'refused'
}

const applicantOf = ({ phone, aud, data }: SignInRequest) => ({
  aud,
  contact: { provider: 'phone' as const, address: phone },
  data,
})

/** The code counts for whoever has the number, or for the new person who has it from now on. */
export async function acceptSignInCode(
  { audit, otp, users }: House<'audit' | 'otp' | 'users'>,
  trx: Trx,
  request: SignInRequest,
  { sent, approval }: SignInCode,
  now: Date,
): Promise<void> {
  const { phone, aud, ip } = request
  const signedUp = await signUp({ users }, trx, request, approval, now)
  const person = signedUp?.user ?? (await users.lockByPhone(trx, phone, aud))
  // They may have left the number, or been deleted, while the message was sent.
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
  request: SignInRequest,
  approval: Approval | undefined,
  now: Date,
): Promise<Registration | undefined> {
  const applicant = applicantOf(request)
  const registrant = { ...applicant, passwordHash: null, approval, byAdmin: false }
  const registered = await users.register(trx, registrant, now)
  if (!registered || registered.claim || !users.phoneAutoconfirm) return registered
  return { user: await users.provePhone(trx, registered.user.id, { inMetadata: true }, now) }
}
