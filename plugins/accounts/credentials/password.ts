/** Signing in with a password (RFC 6749 §4.3). Nothing is said about an account before its password is proven. */
import pLimit from 'p-limit'

import type { Db } from '../../../db/database.ts'
import { renewPasswordHash } from '../../../db/user-edits.ts'
import { findUser, isBanned, type UserRecord } from '../../../db/users.ts'
import {
  emailNotConfirmed,
  invalidCredentials,
  phoneNotConfirmed,
  userBanned,
} from '../../../errors.ts'
import type { Session } from '../../../schemas/session.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import { askAboutRight, askAboutWrong } from './password-hook.ts'

export interface PasswordSignIn {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
  /** The person's, or it is not them. */
  aud: string
  password: string
  client: Client
  ip: string
}

type PasswordHouse = House<'audit' | 'config' | 'db' | 'hooks' | 'otp' | 'passwords' | 'sessions'>

/** Many sign-ins at once wait for their hashes anyway: before that, they must not take every connection of the pool. */
const lookUpsAtOnce = 4

export function createPasswordSignIn(house: PasswordHouse) {
  const { otp, passwords } = house
  const lookUp = pLimit(lookUpsAtOnce)

  /**
   * Checks the password and opens a session. Throws validation_failed, over_request_rate_limit, invalid_credentials,
   * user_banned, email_not_confirmed, phone_not_confirmed or HookError.
   */
  return async (db: Db, signIn: PasswordSignIn, now: Date): Promise<Session> => {
    const { provider, address, aud, password, client } = signIn
    passwords.checkLength(password)
    const owner = provider === 'email' ? { email: address, aud } : { phone: address, aud }
    const guess = { account: address, device: { ...owner, client } }
    const { attempt, user } = await lookUp(() => otp.gateSignIn(db, guess, now))
    const verify = () => passwords.verifyFor(address, user, password)
    const isRight = await attempt.check(db, verify, Boolean)
    if (user && !isRight) askAboutWrong(house, user, signIn.ip)
    if (!user || !isRight) throw invalidCredentials()
    await askAboutRight(house, user, signIn.ip)
    checkState(house, user, provider, now)
    const passwordHash = await renewHash(house, db, user, password, now)
    return openSession(house, db, user, { ...signIn, passwordHash }, now)
  }
}

function checkState(
  { config }: House<'config'>,
  user: UserRecord,
  provider: PasswordSignIn['provider'],
  now: Date,
): void {
  if (user.deleted_at) throw invalidCredentials()
  if (isBanned(user, now)) throw userBanned(400)
  if (provider === 'phone' && !user.phone_confirmed_at) throw phoneNotConfirmed()
  const needsProof = !config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS
  if (provider === 'email' && !user.email_confirmed_at && needsProof) throw emailNotConfirmed()
}

/**
 * Imported and outdated hashes become today's as soon as the password is known to be right, and while the hash is still
 * the one that said so. Returns the stored hash that the password matches; throws invalid_credentials.
 */
async function renewHash(
  { passwords }: House<'passwords'>,
  db: Db,
  user: UserRecord,
  password: string,
  now: Date,
): Promise<string> {
  const { id, encrypted_password: old } = user
  if (!old) throw invalidCredentials()
  if (!passwords.isOutdated(old)) return old
  const renewed = await passwords.hash(password)
  if (await renewPasswordHash(db, id, { old, renewed }, now)) return renewed
  // Another sign-in renewed it, or the password is another one now: what is stored decides.
  const today = await findUser(db, id)
  if (today?.encrypted_password && (await passwords.verify(today, password))) {
    return today.encrypted_password
  }
  throw invalidCredentials()
}

async function openSession(
  { audit, passwords, sessions }: House<'audit' | 'passwords' | 'sessions'>,
  db: Db,
  user: UserRecord,
  { provider, password, passwordHash, client, ip }: PasswordSignIn & { passwordHash: string },
  now: Date,
): Promise<Session> {
  const entry = audit.entry('login', user, ip, { provider })
  const proof = { method: 'password' as const, passwordHash, client, audit: entry }
  const opened = await sessions.open(db, user, proof, now)
  const session = await sessions.answer(opened, now)
  const weakness = await passwords.findWeakness(password)
  return { ...session, weak_password: weakness ?? null }
}
