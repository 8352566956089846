/** Password grant (RFC 6749 §4.3). Nothing about an account is revealed before its password is verified. */
import pLimit from 'p-limit'

import type { Db } from '../../db/core/database.ts'
import { renewPasswordHash } from '../../db/users/password-hash.ts'
import { findUser, isBanned, type UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  emailNotConfirmed,
  invalidCredentials,
  phoneNotConfirmed,
  userBanned,
} from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { createAuditEntry } from '../audit/index.ts'
import { pauseBeforeRejection, throttleSignIn } from '../otp/index.ts'
import { createSession, toTokenResponse } from '../sessions/index.ts'
import { notifyOfFailure } from './failed-attempts.ts'
import { reportCorrectPassword, reportWrongPassword } from './password-hook.ts'
import { createSharedChecks } from './shared-checks.ts'

interface PasswordSignIn {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
  /** The audience that the user must have. */
  aud: string
  password: string
  clientInfo: ClientInfo
  ip: string
}

type PasswordDeps = Deps<
  'audit' | 'config' | 'db' | 'emails' | 'hooks' | 'otp' | 'passwords' | 'sessions'
>

/** Limits the connections that look-ups use; sign-ins wait for their hashes anyway. */
const maxParallelLookups = 4

/** State shared by concurrent sign-ins. */
export const createPasswordChecks = () => ({
  lookUp: pLimit(maxParallelLookups),
  shareCorrect: createSharedChecks(),
})

type SignInDeps = PasswordDeps & { passwordChecks: ReturnType<typeof createPasswordChecks> }

/**
 * Verifies the password and creates a session. Throws validation_failed, over_request_rate_limit, invalid_credentials,
 * user_banned, email_not_confirmed, phone_not_confirmed or HookError.
 */
export async function signInWithPassword(
  deps: SignInDeps,
  db: Db,
  signIn: PasswordSignIn,
  now: Date,
): Promise<Session> {
  const { provider, password } = signIn
  deps.passwords.checkLength(password)
  const verify = () => verifyPassword(deps, db, signIn, now)
  const user = await deps.passwordChecks.shareCorrect(db, signIn, verify)
  if (!user) {
    await pauseBeforeRejection()
    throw invalidCredentials()
  }
  await reportCorrectPassword(deps, user, signIn.ip)
  checkState(deps, user, provider, now)
  const passwordHash = await renewHash(deps, db, user, password, now)
  return openSession(deps, db, user, { ...signIn, passwordHash }, now)
}

/** Returns the user of the password; undefined for a wrong one. Throws over_request_rate_limit. */
async function verifyPassword(deps: SignInDeps, db: Db, signIn: PasswordSignIn, now: Date) {
  const { otp, passwords, passwordChecks } = deps
  const { provider, address, aud, password, clientInfo, ip } = signIn
  const owner = provider === 'email' ? { email: address, aud } : { phone: address, aud }
  const input = { account: address, device: { ...owner, clientInfo } }
  const { attempt, user } = await passwordChecks.lookUp(() => throttleSignIn(otp, db, input, now))
  const verify = () => passwords.verifyFor(address, user, password)
  const isRight = await attempt.check(db, verify, Boolean)
  if (isRight || !user) return isRight ? user : undefined
  reportWrongPassword(deps, user, ip)
  if (attempt.isLastOfDay) {
    // Runs after the response, whose time must not reveal whether the identifier is known.
    deps.hooks.later(() => notifyOfFailure(deps, db, user, { attempt, isFactor: false }, now))
  }
  return undefined
}

function checkState(
  { config }: Deps<'config'>,
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
 * Rehashes imported and outdated hashes after a correct password, if the stored hash is still the verified one. Returns
 * the stored hash that matches; throws invalid_credentials.
 */
async function renewHash(
  { passwords }: Deps<'passwords'>,
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
  // The stored hash decides: another sign-in rehashed it, or the password was changed.
  const current = await findUser(db, id)
  if (current?.encrypted_password && (await passwords.verify(current, password))) {
    return current.encrypted_password
  }
  throw invalidCredentials()
}

async function openSession(
  { audit, passwords, sessions }: Deps<'audit' | 'passwords' | 'sessions'>,
  db: Db,
  user: UserRecord,
  { provider, password, passwordHash, clientInfo, ip }: PasswordSignIn & { passwordHash: string },
  now: Date,
): Promise<Session> {
  const entry = createAuditEntry(audit, 'login', user, ip, { provider })
  const authentication = { method: 'password' as const, passwordHash, clientInfo, audit: entry }
  const opened = await createSession(sessions, db, user, authentication, now)
  const session = await toTokenResponse(sessions, opened, now)
  const weakness = await passwords.findWeakness(password)
  return { ...session, weak_password: weakness ?? null }
}
