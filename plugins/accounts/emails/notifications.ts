/** Mails that only tell: what was changed on an account, to whoever owns its address. */
import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { NotificationKind } from '../../../mail/kinds.ts'
import type { MailVariables } from '../../../mail/variables.ts'
import type { House } from '../../define-plugin.ts'
import { type EmailPolicy, mayReceive } from './email-policy.ts'
import { commonVariables } from './variables.ts'

/** What has happened, with the variables that only its mail has. */
export type Notification = { [K in NotificationKind]: { kind: K } & Details<K> }[NotificationKind]

type Details<K extends NotificationKind> = Omit<MailVariables[K], keyof CommonVariables>
type CommonVariables = ReturnType<typeof commonVariables>

/**
 * Tells the person, as they are after the change, where the operator wants them told and they have an address;
 * a changed address is told to the old one. Never a reason to fail, and never held back by a send limit:
 * whoever took an account over must not be able to use the limit up first.
 */
export async function notify(
  { config, mailer, policy }: House<'config' | 'mailer'> & { policy: EmailPolicy },
  trx: Trx,
  person: UserRecord,
  notification: Notification,
  now: Date,
): Promise<void> {
  const { kind, ...details } = notification
  const to =
    notification.kind === 'email_changed_notification' ? notification.OldEmail : person.email
  if (!mailer.isEnabled(kind) || !to || !mayReceive(policy, to)) return
  const variables = { ...commonVariables(config, person), ...details }
  await mailer.queue(trx, { kind, to, userId: person.id, variables }, now)
}
