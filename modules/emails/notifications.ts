/** Security notifications to the owner of an account. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findPreviousEmail } from '../../db/sessions/session-proofs.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { MailVariables, NotificationKind } from '../../mail/kinds/index.ts'
import { mayReceive } from './email-policy.ts'
import { userVariables } from './variables.ts'

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
