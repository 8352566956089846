/** The confirmation email for an address that the provider has not verified. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isTaken } from '../../db/users/identifier-owners.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { checkRecipient, sendEmailChangeEmails, sendUncountedLinkEmail } from '../emails/index.ts'
import {
  checkSendQuota,
  perClientInterval,
  reserveInterval,
  reserveSendQuota,
} from '../otp/index.ts'
import type { LinkContext } from '../otp/link-context.ts'

/** A dry run that throws the errors of sending. */
export async function dryRunConfirmationEmail(
  app: FastifyInstance,
  trx: Trx,
  address: string,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await reserve(app, trx, address, links, now)
  await checkSendQuota(app, trx, 'email', counted(address, links), now)
}

const counted = (to: string, { network }: LinkContext) =>
  ({ purpose: 'signup', to, network }) as const

async function reserve(
  app: FastifyInstance,
  trx: Trx,
  address: string,
  { network }: LinkContext,
  now: Date,
): Promise<void> {
  checkRecipient(app.emails.policy, address)
  const waiting = perClientInterval(address, network)
  await reserveInterval(app, trx, 'email', 'confirmation', waiting, now)
}

/**
 * Throws over_email_send_rate_limit, email_address_not_authorized or email_provider_not_configured before anything is
 * written.
 */
export async function sendConfirmationMail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  links: LinkContext,
  now: Date,
): Promise<void> {
  const address = user.email ?? ''
  await reserve(app, trx, address, links, now)
  await reserveSendQuota(app, trx, 'email', counted(address, links), now)
  await sendUncountedLinkEmail(app, trx, 'confirmation', user, links, now)
}

/**
 * Sends a confirmation to a user without an email. Until it is confirmed the address is stored as pending, so that it
 * is not withheld from its owner. For an address in use nothing is sent, and the requester does not notice. Throws the
 * errors of sendConfirmationMail.
 */
export async function requestFirstEmailConfirmation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  email: string,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await dryRunConfirmationEmail(app, trx, email, links, now)
  const hasOwner = await isTaken(trx, email, user.aud ?? app.config.AUTH_JWT_AUD, user.id)
  const change = { newEmail: email, requiresCurrent: false, reachesNew: !hasOwner }
  await sendEmailChangeEmails(app, trx, user, change, links, now)
}
