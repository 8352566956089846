/** Signing up where addresses are taken as proven: without a message, only the password tells whose account it is. */
import type { Db, Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import type { Actor } from '../audit/entry.ts'
import type { CreateHouse } from './create.ts'
import { lock } from './lock.ts'
import { proveEmail } from './prove-email.ts'
import { provePhone } from './prove-phone.ts'
import { createRegistrant, findOwner, isUnclaimed, type Registrant } from './register.ts'

/** The address had an owner before the transaction began. */
export interface Repeated {
  /** The stored hash that the password matched; null for a wrong password and for a proven or invited account. */
  matchedHash: string | null
}

export interface SignUpAtOnce {
  person: Registrant
  /** What `findRepeated` found. */
  repeated: Repeated | undefined
  ip: string
}

export type SignUpOutcome =
  | { state: 'confirmed'; user: UserRecord }
  | { state: 'to be confirmed'; user: UserRecord }
  /** The address has an owner. Only where every sign-up is confirmed at once may the client be told. */
  | { state: 'taken'; reveal: true }
  | { state: 'taken'; reveal: false; decoy: UserRecord }

/**
 * Compares the password of a sign-up with that of the account it may repeat; undefined when the address is nobody's, and
 * where a message tells. Before the transaction, for a hash takes its time. Throws over_request_rate_limit.
 */
export async function findRepeated(
  { config, otp, passwords }: House<'config' | 'otp' | 'passwords'>,
  db: Db,
  { contact, aud }: Registrant,
  { password, client }: { password: string; client: Client },
  now: Date,
): Promise<Repeated | undefined> {
  const isPhone = contact.provider === 'phone'
  if (!(isPhone ? config.AUTH_SMS_AUTOCONFIRM : config.AUTH_MAILER_AUTOCONFIRM)) return undefined
  const owner = await findOwner(db, contact, aud)
  if (!owner) return undefined
  if (!isUnclaimed(owner, contact)) return { matchedHash: null }
  // A guess at the password like that of a sign-in, and counted with those.
  const device = { userId: owner.id, client }
  const guess = { kind: 'password', account: contact.address, device } as const
  const attempt = await otp.gate(db, guess, now)
  const verify = () => passwords.verifyFor(contact.address, owner, password)
  const matches = await attempt.check(db, verify, Boolean)
  return { matchedHash: matches ? owner.encrypted_password : null }
}

/** Confirms a new account, or an unproven one whose password was given. */
export async function signUpAtOnce(
  house: CreateHouse & House<'audit' | 'sessions'>,
  trx: Trx,
  { person, repeated, ip }: SignUpAtOnce,
  now: Date,
): Promise<SignUpOutcome> {
  const { contact, aud } = person
  const existing = repeated && (await findOwner(trx, contact, aud))
  const user = existing
    ? await lockMatched(trx, existing, person, repeated)
    : await createRegistrant(house, trx, person, now)
  if (user) return confirmed(house, trx, user, { provider: contact.provider, ip }, now)
  const owner = existing ?? (await findOwner(trx, contact, aud))
  return repeatedBy(house, trx, owner, undefined, { ip, now })
}

/** Of an address that has an owner; without a decoy the client may be told so. */
export async function repeatedBy(
  { audit }: House<'audit'>,
  trx: Trx,
  owner: Actor | undefined,
  decoy: UserRecord | undefined,
  seen: { ip: string; now: Date },
): Promise<SignUpOutcome> {
  if (owner) await audit.record(trx, 'user_repeated_signup', owner, seen)
  return decoy ? { state: 'taken', reveal: false, decoy } : { state: 'taken', reveal: true }
}

/** The account, held, if it is still the one whose password was found to match. */
async function lockMatched(
  trx: Trx,
  { id }: UserRecord,
  { contact }: Registrant,
  { matchedHash }: Repeated,
): Promise<UserRecord | undefined> {
  if (matchedHash === null) return undefined
  const user = await lock(trx, id)
  return user?.encrypted_password === matchedHash && isUnclaimed(user, contact) ? user : undefined
}

async function confirmed(
  house: House<'audit' | 'events' | 'sessions'>,
  trx: Trx,
  user: UserRecord,
  { provider, ip }: { provider: 'email' | 'phone'; ip: string },
  now: Date,
): Promise<SignUpOutcome> {
  await house.audit.record(trx, 'user_signedup', user, { ip, now, traits: { provider } })
  const proven =
    provider === 'email'
      ? await proveEmail(house, trx, user.id, {}, now)
      : await provePhone(house, trx, user.id, { inMetadata: true }, now)
  return { state: 'confirmed', user: proven }
}
