import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'

/** Writes the event, and tells the address that was the account's until now, if it had one. `user` is from before. */
export async function tellEmailChanged(
  { emails, events }: House<'emails' | 'events'>,
  trx: Trx,
  user: UserRecord,
  email: string,
  now: Date,
): Promise<void> {
  const facts = { previous: user.email || null, current: email }
  await events.record(trx, 'email.changed', user.id, facts, now)
  if (!user.email) return
  const notification = { kind: 'email_changed_notification', OldEmail: user.email } as const
  await emails.notify(trx, { ...user, email }, notification, now)
}
