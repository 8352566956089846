/**
 * Another email address for an account: asked for by the person, agreed to by the new mailbox and, unless the operator
 * says otherwise, by the current one too, in either order.
 */
import { isTaken } from '../../../db/address-owners.ts'
import type { Db, Trx } from '../../../db/database.ts'
import { putIdentity } from '../../../db/identities.ts'
import type { TokenType } from '../../../db/one-time-tokens.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import { emailExists } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'
import type { Verified } from './verified.ts'
import { gateWantedAddress } from './wanted-address.ts'

/** Throws email_exists when the address belongs to somebody else. */
export async function checkEmailFree(db: Db, user: UserRecord, email: string): Promise<void> {
  if (await isTaken(db, email, user.aud ?? '', user.id)) throw emailExists()
}

/** A change that may be asked for. */
export interface EmailChangeRequest {
  email: string
  /** Whether the new mailbox is written to; whoever asks is not to notice. */
  reachesNew: boolean
}

/**
 * Claims the wait and looks whose the address is, so that what is refused has cost its wait. Throws email_exists,
 * over_request_rate_limit, over_email_send_rate_limit, email_provider_not_configured or email_address_not_authorized.
 */
export async function claimEmailChange(
  house: House<'config' | 'emails' | 'mailer' | 'otp'>,
  db: Db,
  user: UserRecord,
  email: string,
  now: Date,
): Promise<EmailChangeRequest> {
  const { emails, otp } = house
  const appliesAtOnce = isAtOnce(house, user)
  if (!appliesAtOnce) {
    emails.checkRecipient(email)
    await db.transaction().execute(async (trx) => {
      await otp.claimInterval(trx, 'email', 'email_change', user.email || user.id, now)
      await otp.claimInterval(trx, 'email', 'email_change_target', email, now)
      await otp.checkQuota(trx, 'email', now)
    })
  }
  const taken = await isTaken(db, email, user.aud ?? '', user.id)
  const wanted = { isTaken: taken, refusal: emailExists(), appliesAtOnce }
  return { email, reachesNew: await gateWantedAddress(house, db, user, wanted, now) }
}

/** Asks the mailboxes; the wait is claimed. Throws over_email_send_rate_limit. */
export async function startEmailChange(
  house: House<'config' | 'emails' | 'events' | 'mailer' | 'users'>,
  trx: Trx,
  user: UserRecord,
  { email, reachesNew }: EmailChangeRequest,
  context: LinkContext,
  now: Date,
): Promise<void> {
  if (isAtOnce(house, user)) {
    await putEmail(house, trx, user, email, now)
    return
  }
  const change = { newEmail: email, asksCurrent: asksCurrent(house), reachesNew }
  await house.emails.sendEmailChange(trx, user, change, context, now)
}

/** Asks again, all who were asked, unless the address has an owner by now. */
export async function repeatEmailChange(
  house: House<'config' | 'emails'>,
  trx: Trx,
  user: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<void> {
  const newEmail = user.email_change
  if (!newEmail) return
  const reachesNew = !(await isTaken(trx, newEmail, user.aud ?? '', user.id))
  const change = { newEmail, asksCurrent: asksCurrent(house), reachesNew }
  await house.emails.sendEmailChange(trx, user, change, context, now)
}

/** One mailbox agrees: the change is done, or waits for the other one. Throws email_exists. */
export async function agreeToEmail(
  house: House<'config' | 'users'>,
  trx: Trx,
  user: UserRecord,
  by: TokenType,
  now: Date,
): Promise<Verified> {
  const email = user.email_change
  if (!email) return { state: 'refused' }
  // Where addresses need no proof, either mailbox may agree for both.
  const { AUTH_MAILER_AUTOCONFIRM: autoconfirm } = house.config
  const needsBoth = asksCurrent(house) && !autoconfirm && Boolean(user.email)
  if (needsBoth && user.email_change_confirm_status === 0) {
    await updateUser(trx, user.id, { email_change_confirm_status: 1 }, now)
    return { state: 'half', user }
  }
  // The current mailbox alone proves nothing about the new one.
  const isNewProven = needsBoth || autoconfirm || by === 'email_change_token_new'
  if (!isNewProven) return { state: 'refused' }
  const changed = await putEmail(house, trx, user, email, now)
  return { state: 'done', user: changed, type: 'email_change', action: 'user_modified' }
}

/** Where addresses need no proof: an anonymous person has no mailbox to ask, and without a mail server nobody is asked. */
function isAtOnce({ config, mailer }: House<'config' | 'mailer'>, user: UserRecord): boolean {
  return config.AUTH_MAILER_AUTOCONFIRM && (user.is_anonymous || !mailer.configured)
}

function asksCurrent({ config }: House<'config'>): boolean {
  return config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED
}

/** The address becomes the person's, proven. Throws email_exists when somebody else has it by now. */
async function putEmail(
  { users }: House<'users'>,
  trx: Trx,
  user: UserRecord,
  email: string,
  now: Date,
): Promise<UserRecord> {
  await checkEmailFree(trx, user, email)
  await putIdentity(trx, emailIdentityOf(user.id, email), now)
  await recomputeProviders(trx, user.id, now)
  const columns = { email, email_change: '', email_change_confirm_status: 0 }
  const proof = { columns, voidsTokens: true }
  const changed = await users.proveEmail(trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? emailExists() : error
  })
  await users.tellEmailChanged(trx, user, email, now)
  return changed
}

function emailIdentityOf(userId: string, email: string) {
  const identity_data = { sub: userId, email, email_verified: true, phone_verified: false }
  return { user_id: userId, provider: 'email', provider_id: userId, identity_data }
}
