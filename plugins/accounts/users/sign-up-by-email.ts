/**
 * Signing up by email: a new person, a repeated sign-up of an address nobody has proven yet, or one that is taken, also
 * by whoever is invited.
 * What was set before an address was proven never survives a new proof that did not come with it.
 */
import { sql } from 'kysely'

import type { Trx } from '../../../db/database.ts'
import { findUserByAnyEmail, type UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'
import { asNew } from './as-new.ts'
import type { CreateHouse } from './create.ts'
import { decoyByEmail } from './decoy.ts'
import { keepForProof } from './pending-sign-up.ts'
import { type Registration, registerBeside } from './register.ts'
import {
  repeatedBy,
  type SignUpAtOnce,
  type SignUpOutcome,
  signUpAtOnce,
} from './sign-up-at-once.ts'

export interface EmailSignUp extends SignUpAtOnce {
  context: LinkContext
}

type SignUpHouse = CreateHouse & House<'audit' | 'emails' | 'otp' | 'sessions'>

/** Throws over_email_send_rate_limit; everything else is an outcome. */
export function signUpByEmail(
  house: SignUpHouse,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  if (house.config.AUTH_MAILER_AUTOCONFIRM) return signUpAtOnce(house, trx, signUp, now)
  return signUpWithMail(house, trx, signUp, now)
}

async function signUpWithMail(
  house: SignUpHouse,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { emails, otp } = house
  const { person } = signUp
  const { address } = person.contact
  emails.checkRecipient(address)
  await otp.claimInterval(trx, 'email', 'signup', address, now)
  const owner = await findUserByAnyEmail(trx, address, person.aud)
  // New or taken, the same statements run: only whether they are kept differs.
  await sql`savepoint sign_up`.execute(trx)
  const registered = await registerBeside(house, trx, person, owner, now)
  const outcome = registered
    ? await toBeConfirmed(house, trx, registered, signUp, now)
    : await taken(house, trx, signUp, owner, now)
  if (registered) await sql`release savepoint sign_up`.execute(trx)
  // For a taken address too: what is left of the quota must not tell. Last, because everybody who sends waits for it.
  await otp.chargeQuota(trx, 'email', now)
  return outcome
}

async function toBeConfirmed(
  house: House<'audit' | 'config' | 'emails' | 'events'>,
  trx: Trx,
  registered: Registration,
  { person, context, ip }: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { user } = registered
  await house.emails.sendUncountedLink(trx, 'confirmation', user, context, now)
  await keepForProof(trx, registered, now)
  await house.audit.record(trx, 'user_confirmation_requested', user, { ip, now })
  return { state: 'to be confirmed', user: asNew(house, user, person.contact, now) }
}

async function taken(
  house: SignUpHouse,
  trx: Trx,
  signUp: EmailSignUp,
  owner: UserRecord | undefined,
  now: Date,
): Promise<SignUpOutcome> {
  // Where numbers are confirmed at once, a client can tell taken ones anyway.
  const reveal = house.config.AUTH_SMS_AUTOCONFIRM
  const decoy = reveal ? undefined : await decoyByEmail(house, trx, signUp, now)
  return repeatedBy(house, trx, owner, decoy, { ip: signUp.ip, now })
}
