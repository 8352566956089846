import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { notifyUser } from '../emails/index.ts'

/** Emits the event and notifies the previous email, if there was one. `user` is from before the change. */
export async function emitEmailChanged(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  email: string,
  now: Date,
): Promise<void> {
  const facts = { previous: user.email || null, current: email }
  await app.events.record(trx, 'email.changed', user.id, facts, now)
  if (!user.email) return
  const notification = { kind: 'email_changed_notification', OldEmail: user.email } as const
  await notifyUser(app, trx, { ...user, email }, notification, now)
}
