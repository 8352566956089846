/** Sign-up with autoconfirm: no message is sent, so only the password identifies the owner of the account. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import type { Actor } from '../../audit/entry.ts'
import { type AuditContext, recordAudit } from '../../audit/index.ts'
import { throttleAttempt } from '../../otp/index.ts'
import { assignReservedUsername } from '../../usernames/index.ts'
import { verifyEmail } from '../confirm-email.ts'
import { verifyPhone } from '../confirm-phone.ts'
import { lockAndLoadUser } from '../lock.ts'
import type { AutoconfirmedSignUp, Repeated, SignUpInput, SignUpOutcome } from './types.ts'
import { createUnconfirmedUser, isUnclaimed } from './unconfirmed-user.ts'
import { findOwner } from './user-data.ts'

/**
 * Verifies the password against the account that the sign-up may repeat; undefined for a new identifier, and where a
 * message is sent. Before the transaction, since hashing takes time. Throws over_request_rate_limit.
 */
export async function findRepeatedSignUp(
  app: FastifyInstance,
  db: Db,
  { contact, aud }: SignUpInput,
  { password, clientInfo }: { password: string; clientInfo: ClientInfo },
  now: Date,
): Promise<Repeated | undefined> {
  const isPhone = contact.provider === 'phone'
  if (!(isPhone ? app.config.AUTH_SMS_AUTOCONFIRM : app.config.AUTH_MAILER_AUTOCONFIRM))
    return undefined
  const owner = await findOwner(db, contact, aud)
  if (!owner) return undefined
  if (!isUnclaimed(owner, contact)) return { matchedHash: null }
  // A password attempt, counted with those of sign-ins.
  const device = { userId: owner.id, clientInfo }
  const target = { kind: 'password', account: contact.address, device } as const
  const attempt = await throttleAttempt(app, db, target, now)
  const verify = () => app.passwords.verifyFor(contact.address, owner, password)
  const matches = await attempt.check(db, verify, Boolean)
  return { matchedHash: matches ? owner.encrypted_password : null }
}

/** Confirms a new account, or an unverified one with the correct password. */
export async function signUpAutoconfirmed(
  app: FastifyInstance,
  trx: Trx,
  { user: input, repeated, ip }: AutoconfirmedSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { contact, aud } = input
  const existing = repeated && (await findOwner(trx, contact, aud))
  const user = existing
    ? await lockMatched(trx, existing, input, repeated)
    : await createUnconfirmedUser(app, trx, input, now)
  if (user) return confirmed(app, trx, user, { provider: contact.provider, ip }, now)
  const owner = existing ?? (await findOwner(trx, contact, aud))
  return repeatedBy(app, trx, owner, undefined, { ip, now })
}

/** The result for an identifier in use; without a dummy response the client may learn it. */
export async function repeatedBy(
  { audit }: FastifyInstance,
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
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { provider, ip }: { provider: 'email' | 'phone'; ip: string },
  now: Date,
): Promise<SignUpOutcome> {
  await recordAudit(app.audit, trx, 'user_signedup', user, { ip, now, traits: { provider } })
  const assumed = { address: user[provider], isVerified: false }
  await assignReservedUsername(app, trx, user.id, assumed, now)
  const verified =
    provider === 'email'
      ? await verifyEmail(app, trx, user.id, { isAssumed: true }, now)
      : await verifyPhone(app, trx, user.id, { assumedBy: 'autoconfirm', inMetadata: true }, now)
  return { state: 'confirmed', user: verified }
}
