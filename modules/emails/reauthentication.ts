import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { createReauthenticationNonce, reserveSendQuota } from '../otp/index.ts'
import { userVariables } from './variables.ts'

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
