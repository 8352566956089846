/** Another password for an account: who may set it, and what ends with the old one. */
import type { Db, Trx } from '../../../db/database.ts'
import { deleteKnownDevices } from '../../../db/known-devices.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { updateUser, withoutPendingChanges } from '../../../db/user-rows.ts'
import { tokenTypes } from '../../../db/user-tokens.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  currentPasswordInvalid,
  currentPasswordRequired,
  reauthenticationNeeded,
  samePassword,
} from '../../../errors.ts'
import type { Bearer } from '../../bearer-auth.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import type { Attempt } from '../otp/throttle.ts'
import { proveNonce } from './reauthentication.ts'

export interface PasswordChange {
  password: string
  nonce: string | undefined
  currentPassword: string | undefined
}

/** A session this young was opened by somebody who proved who they are not long ago. */
const freshSessionMs = 24 * 60 * 60 * 1000

/** Who signed in like this may not know the password: that is why they come. */
const passwordless = ['otp', 'magiclink', 'recovery']

/**
 * The rules for a password that the person sets while signed in. Throws what each rule refuses with, and
 * over_request_rate_limit. The comparison with the stored one is a guess, which succeeds when the change is made.
 */
export async function checkPasswordChange(
  house: House<'config' | 'otp' | 'passwords'>,
  db: Db,
  bearer: Bearer,
  change: PasswordChange,
  now: Date,
): Promise<Attempt | undefined> {
  const { otp, passwords } = house
  await checkNonce(house, db, bearer, change.nonce, now)
  const current = currentToProve(house, bearer, change.currentPassword)
  const { user } = bearer
  if (!user.encrypted_password) return undefined
  const attempt = await otp.gate(db, guessOf(user), now)
  const matches = (password: string) =>
    attempt.check(
      db,
      () => passwords.verify(user, password),
      () => false,
    )
  if (current !== undefined && !(await matches(current))) throw currentPasswordInvalid()
  if (await matches(change.password)) throw samePassword()
  return attempt
}

/** Throws reauthentication_needed, and what proveNonce throws. */
async function checkNonce(
  house: House<'config' | 'otp'>,
  db: Db,
  { user, session }: Bearer,
  nonce: string | undefined,
  now: Date,
): Promise<void> {
  const isRequired = house.config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION
  const openedAt = session?.session_created_at?.getTime() ?? 0
  if (!isRequired || now.getTime() - openedAt < freshSessionMs) return
  if (!nonce) throw reauthenticationNeeded('Password update requires reauthentication')
  await proveNonce(house, db, user, nonce, now)
}

/** Compares with the stored password; a guess, and counted with those of changes of the password. */
export async function isCurrentPassword(
  { otp, passwords }: House<'otp' | 'passwords'>,
  db: Db,
  user: UserRecord,
  password: string,
  now: Date,
): Promise<boolean> {
  passwords.checkLength(password)
  const attempt = await otp.gate(db, guessOf(user), now)
  return attempt.check(db, () => passwords.verify(user, password), Boolean)
}

/** Not the count of sign-ins: strangers who guess there must not keep the owner out here. */
const guessOf = ({ id }: UserRecord) =>
  ({ kind: 'password', account: `current password of ${id}` }) as const

/** What has to be the current password; undefined where it is not asked for. Throws current_password_required. */
function currentToProve(
  { config, passwords }: House<'config' | 'passwords'>,
  { user, session }: Bearer,
  current: string | undefined,
): string | undefined {
  const isRequired = config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD
  const cameWithout = session?.amr.some(({ method }) => passwordless.includes(method))
  if (!isRequired || !user.encrypted_password || cameWithout) return undefined
  if (!current) throw currentPasswordRequired()
  passwords.checkLength(current)
  return current
}

export interface NewPassword {
  hash: string
  /** The hash that the change was checked against. */
  replaces: string | null
  keepSession: string | undefined
  /** From where it is set. */
  client: Client
}

/**
 * Stores the hash; links, codes and flows on their way, changes of address and number that wait for them and all other
 * sessions end, and other devices are strangers again.
 * Throws current_password_invalid when another password was set since the check.
 */
export async function putPassword(
  { audit, emails, otp, sessions }: House<'audit' | 'emails' | 'otp' | 'sessions'>,
  trx: Trx,
  user: UserRecord,
  { hash, replaces, keepSession, client }: NewPassword,
  { ip, now }: { ip: string; now: Date },
): Promise<void> {
  if (user.encrypted_password !== replaces) throw currentPasswordInvalid()
  const change = {
    encrypted_password: hash,
    ...withoutPendingChanges,
    confirmation_sent_at: null,
    recovery_sent_at: null,
    email_change_sent_at: null,
    phone_change_sent_at: null,
    reauthentication_sent_at: null,
  }
  await updateUser(trx, user.id, change, now)
  // What waits stays: before the address is proven, whoever sets the password may be a stranger to it.
  await deleteTokens(trx, user.id, tokenTypes)
  await sessions.endAll(trx, user.id, { except: keepSession }, now)
  await deleteKnownDevices(trx, user.id, otp.deviceHash(client))
  await audit.record(trx, 'user_updated_password', user, { ip, now })
  await emails.notify(trx, user, { kind: 'password_changed_notification' }, now)
}
