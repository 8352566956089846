/** Password grant (RFC 6749 §4.3). Nothing about an account is revealed before its password is verified. */
import { createHmac, randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import pLimit from 'p-limit'

import type { Db } from '../../db/core/database.ts'
import { renewPasswordHash } from '../../db/users/password-hashes.ts'
import { findUser, isBanned, type UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  emailNotConfirmed,
  invalidCredentials,
  phoneNotConfirmed,
  userBanned,
} from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { createAuditEntry } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { pauseBeforeRejection, throttleSignIn } from '../otp/index.ts'
import type { Attempt } from '../otp/limits/throttle.ts'
import { createSession, revokeAllSessions, toTokenResponse } from '../sessions/index.ts'

interface PasswordSignIn {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
  /** What the attempt counts for, if not the address. */
  account?: string
  /** The audience that the user must have. */
  aud: string
  password: string
  clientInfo: ClientInfo
  ip: string
}

/** Limits the connections that look-ups use; sign-ins wait for their hashes anyway. */
const maxParallelLookups = 4

/** State shared by concurrent sign-ins. */
export const createPasswordChecks = () => ({
  lookUp: pLimit(maxParallelLookups),
  shareCorrect: createSharedChecks(),
})

/**
 * Verifies the password and creates a session. Throws validation_failed, over_request_rate_limit, invalid_credentials,
 * user_banned, email_not_confirmed, phone_not_confirmed or HookError.
 */
export async function signInWithPassword(
  app: FastifyInstance,
  db: Db,
  signIn: PasswordSignIn,
  now: Date,
): Promise<Session> {
  const { provider, password } = signIn
  app.passwords.checkLength(password)
  const verify = () => verifyPassword(app, db, signIn, now)
  const user = await app.credentials.passwordChecks.shareCorrect(db, signIn, verify)
  if (!user) {
    await pauseBeforeRejection()
    throw invalidCredentials()
  }
  await reportCorrectPassword(app, user, signIn.ip)
  checkState(app, user, provider, now)
  const passwordHash = await renewHash(app, db, user, password, now)
  return openSession(app, db, user, { ...signIn, passwordHash }, now)
}

/** Returns the user of the password; undefined for a wrong one. Throws over_request_rate_limit. */
async function verifyPassword(app: FastifyInstance, db: Db, signIn: PasswordSignIn, now: Date) {
  const { credentials, passwords } = app
  const { provider, address, account = address, aud, password, clientInfo, ip } = signIn
  const owner = provider === 'email' ? { email: address, aud } : { phone: address, aud }
  const input = { account, device: { ...owner, clientInfo } }
  const { attempt, user } = await credentials.passwordChecks.lookUp(() =>
    throttleSignIn(app, db, input, now),
  )
  const verify = () => passwords.verifyFor(address, user, password)
  const isRight = await attempt.check(db, verify, Boolean)
  if (isRight || !user) return isRight ? user : undefined
  reportWrongPassword(app, user, ip)
  if (attempt.isLastOfDay) {
    // Runs after the response, whose time must not reveal whether the identifier is known.
    app.hooks.later(() => notifyOfFailure(app, db, user, { attempt, isFactor: false }, now))
  }
  return undefined
}

function checkState(
  { config }: FastifyInstance,
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
  { passwords }: FastifyInstance,
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
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  { provider, password, passwordHash, clientInfo, ip }: PasswordSignIn & { passwordHash: string },
  now: Date,
): Promise<Session> {
  const entry = createAuditEntry(app.audit, 'login', user, ip, { provider })
  const authentication = { method: 'password' as const, passwordHash, clientInfo, audit: entry }
  const opened = await createSession(app, db, user, authentication, now)
  const session = await toTokenResponse(app, opened, now)
  const weakness = await app.passwords.findWeakness(password)
  return { ...session, weak_password: weakness ?? null }
}

// Notifies the owner of failed attempts: of second factors early, and when the daily limit is reached.

/** One or two may be typing errors; a third within a day may come from an attacker with the password. */
const notifiedFailures = 3

/** Called after a failed attempt, outside of transactions. */
export async function notifyOfFailure(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  { attempt, isFactor }: { attempt: Failures; isFactor: boolean },
  now: Date,
): Promise<void> {
  const kind = chooseNotification(attempt, isFactor)
  if (kind) await db.transaction().execute((trx) => notifyUser(app, trx, user, { kind }, now))
}

type Failures = Pick<Attempt, 'dayFailures' | 'isLastOfDay'>

function chooseNotification({ dayFailures, isLastOfDay }: Failures, isFactor: boolean) {
  if (isLastOfDay) return 'too_many_attempts_notification'
  const isSuspicious = isFactor && dayFailures === notifiedFailures
  return isSuspicious ? 'mfa_verification_failed_notification' : undefined
}

/**
 * Reports a correct password. Throws invalid_credentials with the hook's message when the hook rejects it, and
 * HookError.
 */
async function reportCorrectPassword(
  app: FastifyInstance,
  { id }: UserRecord,
  ip: string,
): Promise<void> {
  if (!app.hooks.passwordVerificationAttempt) return
  const decision = await app.hooks.passwordVerificationAttempt({ user_id: id, valid: true }, ip)
  if (!decision.isRejected) return
  if (decision.endSessions) await endSessions(app, id)
  throw invalidCredentials(decision.message)
}

/**
 * Reports a wrong password. The client neither waits for the hook nor gets its message: an unknown identifier has no
 * hook call, and the response must not reveal that.
 */
function reportWrongPassword(app: FastifyInstance, { id }: UserRecord, ip: string): void {
  const { passwordVerificationAttempt, later } = app.hooks
  if (!passwordVerificationAttempt) return
  later(async () => {
    const decision = await passwordVerificationAttempt({ user_id: id, valid: false }, ip)
    if (decision.isRejected && decision.endSessions) await endSessions(app, id)
  })
}

function endSessions(app: FastifyInstance, userId: string) {
  // The hook may have taken seconds.
  return app.db.transaction().execute((trx) => revokeAllSessions(app, trx, userId, {}, new Date()))
}

interface SignIn {
  provider: string
  address: string
  account?: string
  aud: string
  password: string
}

type Check = () => Promise<UserRecord | undefined>

/**
 * A correct password must not be throttled because an app sends it several times concurrently. Sign-ins with the same
 * password wait for the first one. Each wrong password is a separate attempt and counts.
 */
function createSharedChecks() {
  const running = new Map<string, ReturnType<Check>>()
  const key = randomBytes(32)

  return async (db: Db, signIn: SignIn, check: Check): Promise<UserRecord | undefined> => {
    const { provider, address, account = address, aud, password } = signIn
    const id = createHmac('sha256', key)
      .update(JSON.stringify([provider, address, account, aud, password]))
      .digest('base64url')
    const runningCheck = running.get(id)
    // Its rejection may not apply here, since this client's device may be a known one.
    const owner = await runningCheck?.catch(() => undefined)
    if (owner) return reload(db, owner)
    if (runningCheck) return check()
    const own = check()
    running.set(id, own)
    try {
      return await own
    } finally {
      running.delete(id)
    }
  }
}

/**
 * The verified row was read before the later sign-in arrived, and a ban may have been lifted since. The verified hash
 * is kept, so that a concurrent password change is detected when the session is created.
 */
async function reload(db: Db, { id, encrypted_password }: UserRecord) {
  const user = await findUser(db, id)
  return user && { ...user, encrypted_password }
}
