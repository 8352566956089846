/** The mails that ask whether an address is to become another one. */
import { sql } from 'kysely'

import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../otp/email-links.ts'
import type { LinkKind } from '../otp/kinds.ts'
import { commonVariables, linkVariables } from './variables.ts'

export interface EmailChange {
  newEmail: string
  /** The current address is asked too. */
  asksCurrent: boolean
  /** False for an address that has an owner: they hear nothing, and the change looks like any other. */
  reachesNew: boolean
}

interface Question {
  kind: Extract<LinkKind, `email_change_${string}`>
  to: string
  newEmail: string
}

/**
 * Asks the new address, and where both have to agree the current one too. An earlier question is void, with
 * whatever half of it was answered. Returns the columns it changed. Throws over_email_send_rate_limit.
 */
export async function sendEmailChange(
  house: House<'config' | 'flows' | 'mailer' | 'otp' | 'sendLimits'>,
  trx: Trx,
  person: UserRecord,
  { newEmail, asksCurrent, reachesNew }: EmailChange,
  context: LinkContext,
  now: Date,
): Promise<UserChange> {
  const { flows, otp, sendLimits } = house
  const change = {
    email_change: newEmail,
    email_change_sent_at: now,
    email_change_confirm_status: 0,
  }
  await updateUser(trx, person.id, change, now)
  const toNew = { kind: 'email_change_new', to: newEmail, newEmail } as const
  // The same statements for every address: only whether they are kept differs.
  await sql`savepoint to_new`.execute(trx)
  await ask(house, trx, person, toNew, context, now)
  const end = reachesNew ? sql`release savepoint to_new` : sql`rollback to savepoint to_new`
  await end.execute(trx)
  // Also of a mail that is not kept: what is left of the quota must not tell.
  await sendLimits.chargeQuota(trx, 'email', now)
  if (asksCurrent && person.email) {
    // The client is told the id of the first mail only.
    const { messageId: _, ...second } = context
    const toCurrent = { kind: 'email_change_current', to: person.email, newEmail } as const
    await ask(house, trx, person, toCurrent, second, now)
    await sendLimits.chargeQuota(trx, 'email', now)
  } else {
    await deleteTokens(trx, person.id, ['email_change_token_current'])
  }
  await flows.start(trx, otp.linkKinds.email_change_new.flowMethod, person.id, context.pkce, now)
  return change
}

async function ask(
  { config, mailer, otp }: House<'config' | 'mailer' | 'otp'>,
  trx: Trx,
  person: UserRecord,
  { kind, to, newEmail }: Question,
  context: LinkContext,
  now: Date,
): Promise<void> {
  const link = await otp.createLink(trx, kind, { id: person.id, address: to }, context, now)
  const variables = {
    ...commonVariables(config, person),
    ...linkVariables(link, context.redirectTo),
    NewEmail: newEmail,
    SendingTo: to,
  }
  const { expiresAt } = link
  const { messageId } = context
  await mailer.queue(trx, { kind: 'email_change', to, variables, expiresAt, messageId }, now)
}
