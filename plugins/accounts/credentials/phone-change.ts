/** Another phone number for an account: asked for by the person, agreed to by whoever reads the code sent to it. */
import type { Db, Trx } from '../../../db/database.ts'
import { putIdentity } from '../../../db/identities.ts'
import { keptIf } from '../../../db/kept-if.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { updateUser } from '../../../db/user-rows.ts'
import { findUserByPhone, type UserRecord } from '../../../db/users.ts'
import { phoneExists } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Channel, SentCode, SmsRequest } from '../otp/sms-otp.ts'
import type { Verified } from './verified.ts'
import { gateWantedAddress } from './wanted-address.ts'

/** A change that was asked for. */
export interface PhoneChangeRequest {
  code: SentCode
  /** Whether the code was sent; whoever asked is not to notice. */
  reachesNew: boolean
}

/**
 * Sends a code to the new number, or takes as long; undefined where no proof is needed. Throws phone_exists,
 * over_request_rate_limit, over_sms_send_rate_limit, sms_send_failed or unexpected_failure.
 */
export async function askPhoneChange(
  house: House<'config' | 'otp'>,
  db: Db,
  user: UserRecord,
  to: { phone: string; channel: Channel },
  now: Date,
): Promise<PhoneChangeRequest | undefined> {
  const { config, otp } = house
  const appliesAtOnce = config.AUTH_SMS_AUTOCONFIRM
  const askedBy = user.phone || user.id
  const request: SmsRequest = { purpose: 'phone_change', ...to, owner: user, askedBy }
  if (!appliesAtOnce) await db.transaction().execute((trx) => otp.claimSms(trx, request, now))
  const isTaken = await hasOwner(db, user, to.phone)
  const wanted = { isTaken, refusal: phoneExists(), appliesAtOnce }
  const reachesNew = await gateWantedAddress(house, db, user, wanted, now)
  if (appliesAtOnce) return undefined
  const messageId = crypto.randomUUID()
  if (reachesNew) return { code: await otp.deliverSms(db, request, messageId, now), reachesNew }
  return { code: await otp.withholdSms(db, request, messageId, now), reachesNew }
}

/** A code that was sent counts from now on; one that was not leaves the same traces, and proves nothing. */
export async function acceptPhoneChange(
  { otp }: House<'otp'>,
  trx: Trx,
  user: UserRecord,
  { code, reachesNew }: PhoneChangeRequest,
  now: Date,
): Promise<void> {
  const columns = await keptIf(trx, reachesNew, () => otp.storeSms(trx, user.id, code, now))
  // Once more where it is kept: the same statements for every number.
  await updateUser(trx, user.id, columns, now)
}

async function hasOwner(db: Db, user: UserRecord, phone: string): Promise<boolean> {
  const owner = await findUserByPhone(db, phone, user.aud ?? '')
  return owner !== undefined && owner.id !== user.id
}

/** The new number agrees. Throws phone_exists. */
export async function agreeToPhone(
  house: House<'emails' | 'events' | 'users'>,
  trx: Trx,
  user: UserRecord,
  now: Date,
): Promise<Verified> {
  const phone = user.phone_change
  if (!phone) return { state: 'refused' }
  const changed = await putPhone(house, trx, user, phone, now)
  return { state: 'done', user: changed, type: 'phone_change', action: 'user_modified' }
}

/** The number becomes the person's, proven. Throws phone_exists when somebody else has it by now. */
export async function putPhone(
  house: House<'emails' | 'events' | 'users'>,
  trx: Trx,
  user: UserRecord,
  phone: string,
  now: Date,
): Promise<UserRecord> {
  if (await hasOwner(trx, user, phone)) throw phoneExists()
  await putIdentity(trx, phoneIdentityOf(user.id, phone), now)
  await recomputeProviders(trx, user.id, now)
  // Another number is proven now, whenever the one before it was.
  const columns = { phone, phone_change: '', phone_confirmed_at: now }
  const proof = { columns, voidsTokens: true, inMetadata: false }
  const changed = await house.users.provePhone(trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? phoneExists() : error
  })
  const facts = { previous: user.phone || null, current: phone }
  await house.events.record(trx, 'phone.changed', user.id, facts, now)
  await notifyOfPhone(house, trx, user, phone, now)
  return changed
}

async function notifyOfPhone(
  { emails }: House<'emails'>,
  trx: Trx,
  before: UserRecord,
  phone: string,
  now: Date,
): Promise<void> {
  const person = { ...before, phone }
  const isLinked = before.identities.some(({ provider }) => provider === 'phone')
  if (!isLinked) {
    const linked = { kind: 'identity_linked_notification', Provider: 'phone' } as const
    await emails.notify(trx, person, linked, now)
  }
  if (!before.phone) return
  const changed = { Phone: phone, OldPhone: before.phone }
  await emails.notify(trx, person, { kind: 'phone_changed_notification', ...changed }, now)
}

function phoneIdentityOf(userId: string, phone: string) {
  const identity_data = { sub: userId, phone, phone_verified: true, email_verified: false }
  return { user_id: userId, provider: 'phone', provider_id: userId, identity_data }
}
