/** The mails that ask whether an address is to become another one. */
import type { Trx } from '../../../db/database.ts'
import { tellQueue } from '../../../db/jobs.ts'
import { keptIf } from '../../../db/kept-if.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { SecondProof } from '../../mailer/outbox/payload.ts'
import type { MailRequest } from '../../mailer/outbox.ts'
import type { LinkContext } from '../flows/link-context.ts'
import type { LinkKind } from '../otp/kinds.ts'
import { commonVariables, linkVariables } from './variables.ts'

export interface EmailChange {
  newEmail: string
  /** The current address is asked too. */
  asksCurrent: boolean
  /** False for an address that has an owner: they hear nothing, and the change looks like any other. */
  reachesNew: boolean
}

interface Asked {
  kind: Extract<LinkKind, `email_change_${string}`>
  to: string
  newEmail: string
}

/**
 * Asks the new address, and where both have to agree the current one too. An earlier question is void, with
 * whatever half of it was answered. Returns the columns it changed. Throws over_email_send_rate_limit.
 */
export async function sendEmailChange(
  house: House<'config' | 'flows' | 'mailer' | 'otp'>,
  trx: Trx,
  person: UserRecord,
  { newEmail, asksCurrent, reachesNew }: EmailChange,
  context: LinkContext,
  now: Date,
): Promise<UserChange> {
  const { flows, mailer, otp } = house
  const change = {
    email_change: newEmail,
    email_change_sent_at: now,
    email_change_confirm_status: 0,
  }
  await updateUser(trx, person.id, change, now)
  const asked = asksCurrent && person.email ? person.email : undefined
  // A hook that sends the mails is told of both addresses in one call, so that the first mail waits for the second link.
  const isPair = mailer.byHook && asked !== undefined
  const toNew = { kind: 'email_change_new', to: newEmail, newEmail } as const
  const first = await keptIf(trx, reachesNew, async () => {
    const mail = await question(house, trx, person, toNew, context, now)
    if (!isPair) await mailer.queue(trx, mail, now)
    return mail
  })
  await tellQueue(trx, { count: reachesNew ? 0 : 1 })
  // Also of a mail that is not kept: what is left of the quota must not tell.
  await otp.chargeQuota(trx, 'email', now)
  if (asked) {
    // The client is told the id of the first mail only.
    const { messageId: _, ...rest } = context
    const toCurrent = { kind: 'email_change_current', to: asked, newEmail } as const
    const second = await question(house, trx, person, toCurrent, rest, now)
    await mailer.queue(trx, isPair ? { ...first, second: second.proof } : second, now)
    await otp.chargeQuota(trx, 'email', now)
  } else {
    await deleteTokens(trx, person.id, ['email_change_token_current'])
  }
  await flows.start(trx, otp.linkKinds.email_change_new.flowMethod, person.id, context.pkce, now)
  return change
}

/** Makes the link, and the mail that is to carry it. */
async function question(
  { config, otp }: House<'config' | 'otp'>,
  trx: Trx,
  person: UserRecord,
  { kind, to, newEmail }: Asked,
  context: LinkContext,
  now: Date,
): Promise<MailRequest<'email_change'> & { proof: SecondProof }> {
  const link = await otp.createLink(trx, kind, { id: person.id, address: to }, context, now)
  const variables = {
    ...commonVariables(config, person),
    ...linkVariables(link, context.redirectTo),
    NewEmail: newEmail,
    SendingTo: to,
  }
  const { expiresAt, code, linkToken } = link
  const { messageId } = context
  const mail = { kind: 'email_change', to, userId: person.id, variables, expiresAt } as const
  return { ...mail, messageId, proof: { code, linkToken } }
}
