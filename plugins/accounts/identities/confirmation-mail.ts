/** The mail that asks for the proof a provider did not give. */
import { isTaken } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'

/** As if a mail were sent: throws what sending one does. */
export async function rehearseConfirmationMail(
  house: House<'emails' | 'otp'>,
  trx: Trx,
  address: string,
  now: Date,
): Promise<void> {
  await claim(house, trx, address, now)
  await house.otp.checkQuota(trx, 'email', now)
}

async function claim(
  { emails, otp }: House<'emails' | 'otp'>,
  trx: Trx,
  address: string,
  now: Date,
): Promise<void> {
  emails.checkRecipient(address)
  await otp.claimInterval(trx, 'email', 'confirmation', address, now)
}

/**
 * Throws over_email_send_rate_limit, email_address_not_authorized or email_provider_not_configured, each before anything
 * is written.
 */
export async function sendConfirmationMail(
  house: House<'emails' | 'otp'>,
  trx: Trx,
  user: UserRecord,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await claim(house, trx, user.email ?? '', now)
  await house.otp.chargeQuota(trx, 'email', now)
  await house.emails.sendUncountedLink(trx, 'confirmation', user, links, now)
}

/**
 * Somebody without an address gets this one when its mail is opened. Until then it waits beside the account: in it, it would
 * be kept from its owner. Whoever asks does not notice that it has one, because anybody can say so of an address; its owner
 * hears nothing. Throws what sendConfirmationMail throws.
 */
export async function askForFirstAddress(
  house: House<'config' | 'emails' | 'otp'>,
  trx: Trx,
  user: UserRecord,
  email: string,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await rehearseConfirmationMail(house, trx, email, now)
  const hasOwner = await isTaken(trx, email, user.aud ?? house.config.AUTH_JWT_AUD, user.id)
  const change = { newEmail: email, asksCurrent: false, reachesNew: !hasOwner }
  await house.emails.sendEmailChange(trx, user, change, links, now)
}
