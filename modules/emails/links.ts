/** Emails with a link to /verify. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { type UserTimes, updateUserTimestamps } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { startPkceFlow } from '../flows/index.ts'
import { createEmailLink, linkKinds, reserveSendQuota } from '../otp/index.ts'
import type { QuotaPurpose } from '../otp/limits/channels.ts'
import type { LinkContext } from '../otp/link-context.ts'
import type { LinkKind } from '../otp/link-types.ts'
import { getLinkVariables, userVariables } from './variables.ts'

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
