/** Whether the account that was found may be entered: its address is confirmed, is proven now, or is asked for by mail. */
import { isHeld } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  ApiError,
  providerEmailNeedsVerification,
  providerEmailUnverified,
  signupDisabled,
} from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Addresses } from './addresses.ts'
import {
  askForFirstAddress,
  rehearseConfirmationMail,
  sendConfirmationMail,
} from './confirmation-mail.ts'
import type { MatchedAccount } from './match.ts'
import type { SignInAttempt, SignInOutcome } from './oauth-sign-in.ts'
import { readPerson } from './person.ts'

type PolicyHouse = House<'config' | 'emails' | 'otp' | 'users'>

export async function admit(
  house: PolicyHouse,
  trx: Trx,
  found: MatchedAccount,
  attempt: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  const { person, addresses } = attempt
  const { user } = found
  if (isSettled(user, person.emailOptional)) {
    return { state: 'accepted', user, action: found.isNew ? 'user_signedup' : 'login' }
  }
  const { config, users } = house
  const email = await addressOf(trx, user, addresses)
  const isProven = email && (config.AUTH_MAILER_AUTOCONFIRM || addresses.verified.includes(email))
  if (!isProven) return withoutProof(house, trx, user, attempt, now)
  if (!found.isNew) {
    const { id, identity_data: metadata } = found.identity
    const kept = { keepIdentity: { id }, passwordHash: null, metadata, keepSessions: true }
    await users.dropUnproven(trx, user, kept, now)
  }
  // Whoever signed in before the proof may be somebody else.
  const proof = { columns: { email }, voidsTokens: true, endsSessions: true }
  const proven = await users.proveEmail(trx, user.id, proof, now)
  return { state: 'accepted', user: proven, action: 'user_signedup' }
}

/**
 * Where addresses are confirmed by mail, or nobody signs up, the same answer and the same limits as for an address that
 * nobody has; its owner gets no mail. Throws signup_disabled.
 */
export async function refuseOwned(
  house: House<'config' | 'emails' | 'otp'>,
  trx: Trx,
  address: string,
  now: Date,
): Promise<SignInOutcome> {
  if (house.config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (house.config.AUTH_MAILER_AUTOCONFIRM) {
    return { state: 'refused', error: providerEmailUnverified() }
  }
  await rehearseConfirmationMail(house, trx, address, now)
  return { state: 'refused', error: providerEmailNeedsVerification() }
}

/** Nothing is left to prove: the address is confirmed, or there is none and none is needed. */
function isSettled(user: UserRecord, emailOptional: boolean): boolean {
  if (user.email_confirmed_at) return true
  return !user.email && (emailOptional || user.phone_confirmed_at !== null)
}

/** An address nobody proved gives way to one that the provider proved, unless that is somebody else's. */
async function addressOf(
  trx: Trx,
  user: UserRecord,
  { primary: email, verified }: Addresses,
): Promise<string | null> {
  if (!email || email === user.email || !verified.includes(email)) return user.email
  if (user.email && verified.includes(user.email)) return user.email
  if (user.is_sso_user) return email
  return (await isHeld(trx, email)) ? user.email : email
}

async function withoutProof(
  house: PolicyHouse,
  trx: Trx,
  user: UserRecord,
  { addresses: { primary }, context: { links } }: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  if (!house.config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) {
    if (user.email) await sendConfirmationMail(house, trx, user, links, now)
    else if (primary) await askForFirstAddress(house, trx, user, primary, links, now)
    return { state: 'refused', error: providerEmailNeedsVerification() }
  }
  if (user.email) await sendConfirmationMail(house, trx, user, links, now).catch(ignoreTooSoon)
  return { state: 'accepted', user: await readPerson(trx, user.id), action: 'login' }
}

function ignoreTooSoon(error: unknown): void {
  if (error instanceof ApiError && error.status === 429) return
  throw error
}
