/** Confirmation emails of an email change. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { withSavepoint } from '../../db/core/savepoint.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { MailRequest } from '../../plugins/messaging/mailer/outbox/index.ts'
import type { SecondConfirmation } from '../../plugins/messaging/mailer/outbox/payload.ts'
import { startPkceFlow } from '../flows/index.ts'
import { createEmailLink, linkKinds, reserveSendQuota } from '../otp/index.ts'
import type { LinkContext, LinkKind } from '../otp/links.ts'
import { getLinkVariables, userVariables } from './send.ts'

interface EmailChange {
  newEmail: string
  /** The current address must confirm too. */
  requiresCurrent: boolean
  /** False for an address in use: its owner gets no email, and the response is the same. */
  reachesNew: boolean
}

type ConfirmationRequest = MailRequest<'email_change'> & { proof: SecondConfirmation }

interface NewConfirmation {
  kind: Extract<LinkKind, `email_change_${string}`>
  to: string
  newEmail: string
}

/**
 * Sends the emails to the new address and, where required, to the current one. Invalidates an earlier change, confirmed
 * by half or not. Returns the changed columns. Throws over_email_send_rate_limit.
 */
export async function sendEmailChangeEmails(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { newEmail, requiresCurrent, reachesNew }: EmailChange,
  context: LinkContext,
  now: Date,
): Promise<UserChange> {
  const { mailer } = app
  const change = {
    email_change: newEmail,
    email_change_sent_at: now,
    email_change_confirm_status: 0,
  }
  await updateUser(trx, user.id, change, now)
  const current = requiresCurrent && user.email ? user.email : undefined
  // A send email hook gets both addresses in one call, so the first email waits for the second link.
  const isPair = mailer.byHook && current !== undefined
  const toNew = { newEmail, reachesNew, waits: isPair }
  const first = await requestNewConfirmation(app, trx, user, toNew, context, now)
  if (current) {
    const toCurrent = { current, newEmail, first: isPair ? first : undefined }
    await requestCurrentConfirmation(app, trx, user, toCurrent, context, now)
  } else {
    await deleteTokens(trx, user.id, ['email_change_token_current'])
  }
  await startPkceFlow(trx, linkKinds.email_change_new.flowMethod, user.id, context.pkce, now)
  return change
}

/** Returns the email, which is queued unless it waits for the second one. */
async function requestNewConfirmation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { newEmail, reachesNew, waits }: { newEmail: string; reachesNew: boolean; waits: boolean },
  context: LinkContext,
  now: Date,
): Promise<ConfirmationRequest> {
  const { mailer } = app
  const confirmation = { kind: 'email_change_new', to: newEmail, newEmail } as const
  const mail = await withSavepoint(trx, reachesNew, async () => {
    const made = await createConfirmation(app, trx, user, confirmation, context, now)
    if (!waits) await mailer.queue(trx, made, now)
    return made
  })
  // Counted without an email too: the remaining quota must not reveal it.
  await reserveSendQuota(app, trx, 'email', counted(newEmail, context), now)
  return mail
}

/** Queues the second email, or the first one with the second token. */
async function requestCurrentConfirmation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  {
    current,
    newEmail,
    first,
  }: { current: string; newEmail: string; first: ConfirmationRequest | undefined },
  context: LinkContext,
  now: Date,
): Promise<void> {
  const { mailer } = app
  // The client gets the id of the first email only.
  const { messageId: _, ...rest } = context
  const confirmation = { kind: 'email_change_current', to: current, newEmail } as const
  const second = await createConfirmation(app, trx, user, confirmation, rest, now)
  await mailer.queue(trx, first ? { ...first, second: second.proof } : second, now)
  await reserveSendQuota(app, trx, 'email', counted(current, context), now)
}

const counted = (to: string, { network }: LinkContext) =>
  ({ purpose: 'email_change', to, network }) as const

/** Creates the link and its email. */
async function createConfirmation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { kind, to, newEmail }: NewConfirmation,
  context: LinkContext,
  now: Date,
): Promise<ConfirmationRequest> {
  const link = await createEmailLink(app, trx, kind, { id: user.id, address: to }, context, now)
  const variables = {
    ...userVariables(app.config, user),
    ...getLinkVariables(link, context.redirectTo),
    NewEmail: newEmail,
    SendingTo: to,
  }
  const { expiresAt, code, tokenHash: linkToken } = link
  const { messageId } = context
  const mail = { kind: 'email_change', to, userId: user.id, variables, expiresAt } as const
  return { ...mail, messageId, proof: { code, linkToken } }
}
