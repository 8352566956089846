/** Mails whose link leads to /verify and asks for nothing but to be opened. */
import type { Trx } from '../../../db/database.ts'
import { noteUserTimes, type UserTimes } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'
import type { LinkKind } from '../otp/kinds.ts'
import { commonVariables, linkVariables } from './variables.ts'

export type PlainLinkKind = Exclude<LinkKind, 'email_change_new' | 'email_change_current'>

const sentColumns: Record<PlainLinkKind, 'confirmation_sent_at' | 'recovery_sent_at'> = {
  confirmation: 'confirmation_sent_at',
  invite: 'confirmation_sent_at',
  recovery: 'recovery_sent_at',
  magic_link: 'recovery_sent_at',
}

/** Makes the link and queues its mail, which counts. Returns the columns it changed. Throws over_email_send_rate_limit. */
export async function sendLink(
  house: House<'config' | 'flows' | 'mailer' | 'otp'>,
  trx: Trx,
  kind: PlainLinkKind,
  person: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<UserTimes> {
  const change = await sendUncountedLink(house, trx, kind, person, context, now)
  await house.otp.chargeQuota(trx, 'email', now)
  return change
}

/** The same for a mail that its caller counts, and for what an admin sends. */
export async function sendUncountedLink(
  { config, flows, mailer, otp }: House<'config' | 'flows' | 'mailer' | 'otp'>,
  trx: Trx,
  kind: PlainLinkKind,
  person: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<UserTimes> {
  const to = person.email ?? ''
  const change = { [sentColumns[kind]]: now, ...(kind === 'invite' && { invited_at: now }) }
  // The person's row before the token's, as everywhere: see lockOwnersAt in db/token-guesses.ts.
  await noteUserTimes(trx, person.id, change, now)
  const link = await otp.createLink(trx, kind, { id: person.id, address: to }, context, now)
  await flows.start(trx, otp.linkKinds[kind].flowMethod, person.id, context.pkce, now)
  const variables = {
    ...commonVariables(config, person),
    ...linkVariables(link, context.redirectTo),
  }
  const { messageId } = context
  const { id: userId } = person
  const { expiresAt } = link
  await mailer.queue(trx, { kind, to, userId, variables, expiresAt, messageId }, now)
  return change
}
