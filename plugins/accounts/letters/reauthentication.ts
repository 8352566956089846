import type { Trx } from '../../../db/database.ts'
import { type UserRecord, updateUser } from '../../../db/users.ts'
import type { LetterDeps } from '../letters.ts'
import { commonVariables } from './variables.ts'

/** Mails the code without which a password is not changed. */
export async function sendReauthentication(
  { links, mailer, siteUrl }: LetterDeps,
  trx: Trx,
  person: UserRecord,
  messageId: string,
  now: Date,
): Promise<void> {
  const to = person.email ?? ''
  await updateUser(trx, person.id, { reauthentication_sent_at: now }, now)
  const { code, expiresAt } = await links.createNonce(trx, person.id, to, now)
  const variables = { ...commonVariables(siteUrl, person), Token: code }
  const kind = 'reauthentication'
  await mailer.queue(trx, { kind, to, variables, expiresAt, messageId }, now)
}
