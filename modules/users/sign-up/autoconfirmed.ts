/** Sign-up with autoconfirm: no message is sent, so only the password identifies the owner of the account. */
import type { Db, Trx } from '../../../db/core/database.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import type { Actor } from '../../audit/entry.ts'
import { type AuditContext, recordAudit } from '../../audit/index.ts'
import { throttleAttempt } from '../../otp/index.ts'
import { assignReservedUsername } from '../../usernames/index.ts'
import { verifyEmail } from '../confirm-email.ts'
import { verifyPhone } from '../confirm-phone.ts'
import { lockAndLoadUser } from '../lock.ts'
import type { CreateUserDeps } from './create-user.ts'
import { findOwner } from './find-owner.ts'
import type { AutoconfirmedSignUp, Repeated, SignUpInput, SignUpOutcome } from './types.ts'
import { createUnconfirmedUser, isUnclaimed } from './unconfirmed-user.ts'

/**
 * Verifies the password against the account that the sign-up may repeat; undefined for a new identifier, and where a
 * message is sent. Before the transaction, since hashing takes time. Throws over_request_rate_limit.
 */
export async function findRepeatedSignUp(
  { config, otp, passwords }: Deps<'config' | 'otp' | 'passwords'>,
  db: Db,
  { contact, aud }: SignUpInput,
  { password, clientInfo }: { password: string; clientInfo: ClientInfo },
  now: Date,
): Promise<Repeated | undefined> {
  const isPhone = contact.provider === 'phone'
  if (!(isPhone ? config.AUTH_SMS_AUTOCONFIRM : config.AUTH_MAILER_AUTOCONFIRM)) return undefined
  const owner = await findOwner(db, contact, aud)
  if (!owner) return undefined
  if (!isUnclaimed(owner, contact)) return { matchedHash: null }
  // A password attempt, counted with those of sign-ins.
  const device = { userId: owner.id, clientInfo }
  const target = { kind: 'password', account: contact.address, device } as const
  const attempt = await throttleAttempt(otp, db, target, now)
  const verify = () => passwords.verifyFor(contact.address, owner, password)
  const matches = await attempt.check(db, verify, Boolean)
  return { matchedHash: matches ? owner.encrypted_password : null }
}

/** Confirms a new account, or an unverified one with the correct password. */
export async function signUpAutoconfirmed(
  deps: CreateUserDeps & Deps<'audit' | 'sessions' | 'usernames'>,
  trx: Trx,
  { user: input, repeated, ip }: AutoconfirmedSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { contact, aud } = input
  const existing = repeated && (await findOwner(trx, contact, aud))
  const user = existing
    ? await lockMatched(trx, existing, input, repeated)
    : await createUnconfirmedUser(deps, trx, input, now)
  if (user) return confirmed(deps, trx, user, { provider: contact.provider, ip }, now)
  const owner = existing ?? (await findOwner(trx, contact, aud))
  return repeatedBy(deps, trx, owner, undefined, { ip, now })
}

/** The result for an identifier in use; without a dummy response the client may learn it. */
export async function repeatedBy(
  { audit }: Deps<'audit'>,
  trx: Trx,
  owner: Actor | undefined,
  dummy: UserRecord | undefined,
  seen: AuditContext,
): Promise<SignUpOutcome> {
  if (owner) await recordAudit(audit, trx, 'user_repeated_signup', owner, seen)
  return dummy ? { state: 'taken', reveal: false, dummy } : { state: 'taken', reveal: true }
}

/** Locks the account if its password is still the verified one. */
async function lockMatched(
  trx: Trx,
  { id }: UserRecord,
  { contact }: SignUpInput,
  { matchedHash }: Repeated,
): Promise<UserRecord | undefined> {
  if (matchedHash === null) return undefined
  const user = await lockAndLoadUser(trx, id)
  return user?.encrypted_password === matchedHash && isUnclaimed(user, contact) ? user : undefined
}

async function confirmed(
  deps: Deps<'audit' | 'events' | 'sessions' | 'usernames'>,
  trx: Trx,
  user: UserRecord,
  { provider, ip }: { provider: 'email' | 'phone'; ip: string },
  now: Date,
): Promise<SignUpOutcome> {
  await recordAudit(deps.audit, trx, 'user_signedup', user, { ip, now, traits: { provider } })
  await assignReservedUsername(deps.usernames, trx, user.id, user[provider], now)
  const verified =
    provider === 'email'
      ? await verifyEmail(deps, trx, user.id, { isAssumed: true }, now)
      : await verifyPhone(deps, trx, user.id, { isAssumed: true, inMetadata: true }, now)
  return { state: 'confirmed', user: verified }
}
