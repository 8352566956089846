/** Phone changes: requested by the user, confirmed by the code sent to the new number. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { withSavepoint } from '../../db/core/savepoint.ts'
import { upsertIdentity } from '../../db/identities/identities.ts'
import { consumeAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { recomputeProviders, updateUser } from '../../db/users/update-user.ts'
import { findUserByPhone, type UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import { phoneExists } from '../../schemas/errors.ts'
import { recordAccess } from '../access/index.ts'
import { deliverSms, reserveSms, storeSms, withholdSms } from '../otp/index.ts'
import type { SentCode, SmsChannel, SmsRequest } from '../otp/sms-otp.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { verifyPhone } from '../users/index.ts'
import { clearSharedAnonymousAccount, throttleNewIdentifier } from './new-identifier.ts'
import type { VerificationResult } from './verification-result.ts'

/** A requested change. */
interface PhoneChangeRequest {
  code: SentCode
  /** Whether the code was sent; the response must not reveal it. */
  reachesNew: boolean
}

/**
 * Sends a code to the new number; takes the same time when no code may be sent. Undefined where no verification is
 * required. Throws phone_exists, over_request_rate_limit, over_sms_send_rate_limit, sms_send_failed or
 * unexpected_failure.
 */
export async function sendPhoneChangeOtp(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  to: { phone: string; channel: SmsChannel },
  now: Date,
): Promise<PhoneChangeRequest | undefined> {
  const { config } = app
  const needsNoConfirmation = config.AUTH_SMS_AUTOCONFIRM
  const requester = user.phone || user.id
  const purpose = { purpose: 'phone_change', countsAs: 'phone_change' } as const
  const request: SmsRequest = { ...purpose, ...to, owner: user, requester }
  const isTaken = await hasOwner(db, user, to.phone)
  const identifier = { isTaken, takenError: phoneExists(), needsNoConfirmation }
  const reachesNew = await throttleNewIdentifier(app, db, user, identifier, now)
  if (needsNoConfirmation) return undefined
  await db.transaction().execute((trx) => reserveSms(app, trx, request, now))
  const messageId = crypto.randomUUID()
  if (reachesNew) return { code: await deliverSms(app, db, request, messageId, now), reachesNew }
  return { code: await withholdSms(app, db, request, messageId, now), reachesNew }
}

/** Stores a sent code. Without one the same rows are written, with a code that cannot be verified. */
export async function acceptPhoneChange(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { code, reachesNew }: PhoneChangeRequest,
  now: Date,
): Promise<void> {
  const columns = await withSavepoint(trx, reachesNew, () => storeSms(app, trx, user.id, code, now))
  // Updated twice for a number in use, so that every number has the same statements.
  await updateUser(trx, user.id, columns, now)
}

async function hasOwner(db: Db, user: UserRecord, phone: string): Promise<boolean> {
  const owner = await findUserByPhone(db, phone, user.aud ?? '')
  return owner !== undefined && owner.id !== user.id
}

/** Confirms the new number. Throws phone_exists. */
export async function agreeToPhone(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  now: Date,
): Promise<VerificationResult> {
  const phone = user.phone_change
  if (!phone) return { state: 'rejected' }
  const type = 'phone_change_token'
  await clearSharedAnonymousAccount(
    app,
    trx,
    user,
    { provider: 'phone', address: phone, type },
    now,
  )
  const agreed = { phone, assumedBy: undefined }
  const changed = await setPhone(app, trx, { user, session: undefined }, agreed, now)
  return { state: 'done', user: changed, type: 'phone_change', action: 'user_modified' }
}

/**
 * Sets the number as confirmed: verified, or without verification where `assumedBy` says why. If it replaces another
 * number, all sessions except the given one are revoked. Throws phone_exists when another user has it by now.
 */
export async function setPhone(
  app: FastifyInstance,
  trx: Trx,
  { user, session }: Pick<AuthContext, 'user' | 'session'>,
  { phone, assumedBy }: { phone: string; assumedBy: 'autoconfirm' | 'user' | undefined },
  now: Date,
): Promise<UserRecord> {
  if (await hasOwner(trx, user, phone)) throw phoneExists()
  await upsertIdentity(trx, buildPhoneIdentity(user.id, phone), now)
  await recomputeProviders(trx, user.id, now)
  // The time of this verification, not that of the previous number.
  const columns = { phone, phone_change: '', phone_confirmed_at: now }
  // The account may have had the number before, unverified.
  if (!assumedBy) await consumeAutoconfirmed(trx, user.id, phone)
  const proof = { columns, clearTokens: true, assumedBy, inMetadata: false }
  const changed = await verifyPhone(app, trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? phoneExists() : error
  })
  const facts = { previous: user.phone || null, current: phone }
  await app.events.record(trx, 'phone.changed', user.id, facts, now)
  const access = { user, grant: { kind: 'phone', phone } } as const
  await recordAccess(app, trx, access, now)
  if (user.phone) {
    const except = session?.session_id
    await revokeAllSessions(app, trx, user.id, { except, keepsUnopened: true }, now)
  }
  return changed
}

function buildPhoneIdentity(userId: string, phone: string) {
  const identity_data = { sub: userId, phone, phone_verified: true, email_verified: false }
  return { user_id: userId, provider: 'phone', provider_id: userId, identity_data }
}
