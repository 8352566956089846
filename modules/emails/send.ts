/** Emails with a link or a code, and notifications. Each function queues the email in the transaction of the change. */
import type { FastifyInstance } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import type { Trx } from '../../db/core/database.ts'
import { findPreviousEmail } from '../../db/sessions/session-proofs.ts'
import { type UserTimes, updateUser, updateUserTimestamps } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { MailVariables, NotificationKind } from '../../mail/kinds/index.ts'
import { startPkceFlow } from '../flows/index.ts'
import {
  createEmailLink,
  createReauthenticationNonce,
  linkKinds,
  reserveSendQuota,
} from '../otp/index.ts'
import type { QuotaPurpose } from '../otp/limits/channels.ts'
import type { EmailLink, LinkContext, LinkKind } from '../otp/links.ts'
import { mayReceive } from './email-policy.ts'

type PlainLinkKind = Exclude<LinkKind, 'email_change_new' | 'email_change_current'>

const sentColumns: Record<PlainLinkKind, 'confirmation_sent_at' | 'recovery_sent_at'> = {
  confirmation: 'confirmation_sent_at',
  invite: 'confirmation_sent_at',
  recovery: 'recovery_sent_at',
  magic_link: 'recovery_sent_at',
}

type CountedLinkKind = Exclude<PlainLinkKind, 'invite'>

const quotaPurposes: Record<CountedLinkKind, QuotaPurpose> = {
  confirmation: 'signup',
  recovery: 'recovery',
  magic_link: 'sign_in',
}

/**
 * Creates the link, reserves the quota and queues the email. Returns the changed columns. Throws
 * over_email_send_rate_limit.
 */
export async function sendLinkEmail(
  app: FastifyInstance,
  trx: Trx,
  kind: CountedLinkKind,
  user: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<UserTimes> {
  const change = await sendUncountedLinkEmail(app, trx, kind, user, context, now)
  const message = { purpose: quotaPurposes[kind], to: user.email ?? '', network: context.network }
  await reserveSendQuota(app, trx, 'email', message, now)
  return change
}

/** The same for an email whose caller reserves the quota, and for emails of admins. */
export async function sendUncountedLinkEmail(
  app: FastifyInstance,
  trx: Trx,
  kind: PlainLinkKind,
  user: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<UserTimes> {
  const to = user.email ?? ''
  const change = { [sentColumns[kind]]: now, ...(kind === 'invite' && { invited_at: now }) }
  // The user's row is written before the token's, as everywhere: see lockOwnersAt in db/tokens/attempts.ts.
  await updateUserTimestamps(trx, user.id, change, now)
  const link = await createEmailLink(app, trx, kind, { id: user.id, address: to }, context, now)
  await startPkceFlow(trx, linkKinds[kind].flowMethod, user.id, context.pkce, now)
  const variables = {
    ...userVariables(app.config, user),
    ...getLinkVariables(link, context.redirectTo),
  }
  const { messageId } = context
  const { id: userId } = user
  const { expiresAt } = link
  await app.mailer.queue(trx, { kind, to, userId, variables, expiresAt, messageId }, now)
  return change
}

/** Emails the reauthentication code. Throws over_email_send_rate_limit. */
export async function sendReauthenticationEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  messageId: string,
  now: Date,
): Promise<void> {
  const to = user.email ?? ''
  await updateUser(trx, user.id, { reauthentication_sent_at: now }, now)
  const { code, expiresAt } = await createReauthenticationNonce(app, trx, user.id, to, now)
  const variables = { ...userVariables(app.config, user), Token: code }
  const kind = 'reauthentication'
  await app.mailer.queue(trx, { kind, to, userId: user.id, variables, expiresAt, messageId }, now)
  const message = { purpose: 'sign_in', to, network: undefined } as const
  await reserveSendQuota(app, trx, 'email', message, now)
}

/** The event, with the variables of its email. */
export type Notification = { [K in NotificationKind]: { kind: K } & Details<K> }[NotificationKind]

type Details<K extends NotificationKind> = Omit<MailVariables[K], keyof CommonVariables>
type CommonVariables = ReturnType<typeof userVariables>

/**
 * Notifies the user, in the state after the change, if the notification is enabled and there is an address. After an
 * email change the previous address is notified, also of later changes within a day. Never fails, and is not subject to
 * send limits, which an attacker could exhaust first.
 */
export async function notifyUser(
  { config, emails, mailer }: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  notification: Notification,
  now: Date,
): Promise<void> {
  const { kind, ...details } = notification
  if (!mailer.isEnabled(kind)) return
  const variables = { ...userVariables(config, user), ...details }
  for (const to of await findRecipients(trx, user, notification, now)) {
    if (!mayReceive(emails.policy, to)) continue
    await mailer.queue(trx, { kind, to, userId: user.id, variables }, now)
  }
}

const dayMs = 24 * 60 * 60 * 1000

/** A new address may be an attacker's: for a day the previous one is notified too. */
async function findRecipients(
  trx: Trx,
  { id, email }: UserRecord,
  notification: Notification,
  now: Date,
): Promise<Set<string>> {
  const current = notification.kind === 'email_changed_notification' ? notification.OldEmail : email
  const previous = await findPreviousEmail(trx, id, new Date(now.getTime() - dayMs))
  return new Set([current, previous].filter((address) => Boolean(address)).map(String))
}

/** The variables of every email. */
export function userVariables({ AUTH_SITE_URL }: Config, user: UserRecord) {
  const { email, raw_user_meta_data: metadata } = user
  return { SiteURL: AUTH_SITE_URL, Email: email ?? '', Data: metadata ?? {} }
}

export function getLinkVariables({ url, code, tokenHash }: EmailLink, redirectTo: string) {
  return { ConfirmationURL: url, Token: code, TokenHash: tokenHash, RedirectTo: redirectTo }
}
