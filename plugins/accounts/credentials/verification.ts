/** Spending a one-time code or link: which tokens each `type` of /verify may spend, and what each of them is for. */
import type { Db, Trx } from '../../../db/database.ts'
import type { TokenType } from '../../../db/one-time-tokens.ts'
import { updateUser } from '../../../db/user-rows.ts'
import { findUser, isBanned, type UserRecord } from '../../../db/users.ts'
import { otpExpired, userBanned } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Judgement, SpentToken } from '../otp/sms-otp-check.ts'
import { agreeToEmail } from './email-change.ts'
import { agreeToPhone } from './phone-change.ts'
import { confirmMailbox, confirmPhone, confirmSignUp } from './proven-address.ts'
import type { Verified } from './verified.ts'

const emailTypes = new Map<string, readonly TokenType[]>([
  ['signup', ['confirmation_token']],
  ['invite', ['confirmation_token']],
  ['recovery', ['recovery_token']],
  ['magiclink', ['recovery_token']],
  ['email', ['confirmation_token', 'recovery_token']],
  ['email_change', ['email_change_token_new', 'email_change_token_current']],
])
const phoneTypes = new Map<string, TokenType>([
  ['sms', 'confirmation_token'],
  ['phone_change', 'phone_change_token'],
])

/**
 * What a person shows: a code with the address it went to and the audience they are of, or the token of a link, which
 * says both by itself but may come with them.
 */
export type Proof = { type: string } & (
  | { linkToken: string; email?: string; aud?: string }
  | { email: string; aud: string; code: string }
  | { phone: string; aud: string; code: string; judgement: Judgement }
)

type VerificationHouse = House<'config' | 'emails' | 'events' | 'otp' | 'users'>

export const halfDoneMessage =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

/** Which token a code texted for this type of /verify spends. */
export const phoneTokenOf = (type: string): TokenType | undefined => phoneTypes.get(type)

export const isType = (type: string): boolean => emailTypes.has(type) || phoneTypes.has(type)

/**
 * Spends what the proof names and carries out what it was for. A refused guess has been counted, so the
 * transaction has to end well. Throws user_banned to whoever has the right proof, email_exists, and otp_expired for
 * somebody of another audience.
 */
export async function spend(
  house: VerificationHouse,
  trx: Trx,
  proof: Proof,
  now: Date,
): Promise<Verified> {
  const token = await take(house, trx, proof, now)
  const user = token && (await findUser(trx, token.user_id))
  if (!user || user.deleted_at || !isSentTo(user, token, proof.type)) return { state: 'refused' }
  // Thrown, so that the proof stays good for the request that names the right audience.
  if (proof.aud !== undefined && user.aud !== proof.aud) throw otpExpired()
  if (isBanned(user, now)) throw userBanned(403)
  return apply(house, trx, { token, user, type: proof.type }, now)
}

/** True for a link that can still be opened; nothing is spent. */
export async function isLive(
  { otp }: House<'otp'>,
  db: Db,
  linkToken: string,
  type: string,
  now: Date,
): Promise<boolean> {
  const types = emailTypes.get(type) ?? []
  return (await otp.findLink(db, types, linkToken, now)) !== undefined
}

/** A password that comes with the proof, for somebody who has none yet, and no second factor that it would pass by. */
export async function setFirstPassword(
  { bearerAuth }: House<'bearerAuth'>,
  trx: Trx,
  user: UserRecord,
  hash: string,
  now: Date,
): Promise<void> {
  const isConfirmed = bearerAuth.isConfirmed({ user, session: undefined }, now)
  if (user.encrypted_password || !isConfirmed) return
  await updateUser(trx, user.id, { encrypted_password: hash }, now)
}

/** Spends the token that the proof names; undefined for a wrong, late, used or foreign one. */
async function take(
  { otp }: House<'otp'>,
  trx: Trx,
  proof: Proof,
  now: Date,
): Promise<SpentToken | undefined> {
  if ('phone' in proof) {
    const type = phoneTypes.get(proof.type)
    return type && otp.takeSmsCode(trx, { ...proof, type }, proof.judgement, now)
  }
  const types = emailTypes.get(proof.type) ?? []
  if ('linkToken' in proof) return otp.takeLink(trx, types, proof, now)
  return otp.takeCode(trx, types, { address: proof.email, code: proof.code }, now)
}

/**
 * An address that is no longer the person's proves nothing about them, and a number proves no address: the token of a link
 * in GoTrue's form can be made from the code that was texted.
 */
function isSentTo(user: UserRecord, token: SpentToken, type: string): boolean {
  const addresses: Record<TokenType, (string | null)[]> = {
    confirmation_token: [type === 'sms' ? user.phone : user.email],
    recovery_token: [user.email],
    reauthentication_token: [],
    email_change_token_new: [user.email_change],
    email_change_token_current: [user.email],
    phone_change_token: [user.phone_change],
  }
  return addresses[token.token_type].includes(token.relates_to)
}

/** The token of a sign-up or an invitation, by mail or text message. */
function confirm(
  house: VerificationHouse,
  trx: Trx,
  { token: { token_hash: tokenHash }, user, type }: SpentBy,
  now: Date,
): Promise<Verified> {
  if (type === 'sms') return confirmPhone(house, trx, user, tokenHash, now)
  const as = type === 'invite' ? 'invite' : 'signup'
  return confirmSignUp(house, trx, user, { type: as, tokenHash }, now)
}

interface SpentBy {
  token: SpentToken
  user: UserRecord
  /** Of /verify. */
  type: string
}

/** Carries out what the token was for. */
async function apply(
  house: VerificationHouse,
  trx: Trx,
  { token, user, type }: SpentBy,
  now: Date,
): Promise<Verified> {
  switch (token.token_type) {
    case 'confirmation_token':
      return confirm(house, trx, { token, user, type }, now)
    case 'recovery_token':
      return confirmMailbox(house, trx, user, type === 'recovery' ? 'recovery' : 'magiclink', now)
    case 'email_change_token_new':
    case 'email_change_token_current':
      return agreeToEmail(house, trx, user, token.token_type, now)
    case 'phone_change_token':
      return agreeToPhone(house, trx, user, now)
    default:
      return { state: 'refused' }
  }
}
