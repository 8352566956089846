import type { Trx } from '../../../db/database.ts'
import { updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { commonVariables } from './variables.ts'

/** Mails the code without which a password is not changed. Throws over_email_send_rate_limit. */
export async function sendReauthentication(
  { config, mailer, otp }: House<'config' | 'mailer' | 'otp'>,
  trx: Trx,
  person: UserRecord,
  messageId: string,
  now: Date,
): Promise<void> {
  const to = person.email ?? ''
  await updateUser(trx, person.id, { reauthentication_sent_at: now }, now)
  const { code, expiresAt } = await otp.createNonce(trx, person.id, to, now)
  const variables = { ...commonVariables(config, person), Token: code }
  const kind = 'reauthentication'
  await mailer.queue(trx, { kind, to, userId: person.id, variables, expiresAt, messageId }, now)
  await otp.chargeQuota(trx, 'email', now)
}
