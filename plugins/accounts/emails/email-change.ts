/** The mails that ask whether an address is to become another one. */
import type { Trx } from '../../../db/database.ts'
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

type QuestionHouse = House<'config' | 'mailer' | 'otp'>

type Question = MailRequest<'email_change'> & { proof: SecondProof }

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
  house: QuestionHouse & House<'flows'>,
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
  const current = asksCurrent && person.email ? person.email : undefined
  // A hook that sends the mails is told of both addresses in one call, so that the first mail waits for the second link.
  const isPair = mailer.byHook && current !== undefined
  const toNew = { newEmail, reachesNew, waits: isPair }
  const first = await askNew(house, trx, person, toNew, context, now)
  if (current) {
    const toCurrent = { current, newEmail, first: isPair ? first : undefined }
    await askCurrent(house, trx, person, toCurrent, context, now)
  } else {
    await deleteTokens(trx, person.id, ['email_change_token_current'])
  }
  await flows.start(trx, otp.linkKinds.email_change_new.flowMethod, person.id, context.pkce, now)
  return change
}

/** Returns the mail, which is queued unless it waits for the second one. */
async function askNew(
  house: QuestionHouse,
  trx: Trx,
  person: UserRecord,
  { newEmail, reachesNew, waits }: { newEmail: string; reachesNew: boolean; waits: boolean },
  context: LinkContext,
  now: Date,
): Promise<Question> {
  const { mailer, otp } = house
  const asked = { kind: 'email_change_new', to: newEmail, newEmail } as const
  const mail = await keptIf(trx, reachesNew, async () => {
    const made = await question(house, trx, person, asked, context, now)
    if (!waits) await mailer.queue(trx, made, now)
    return made
  })
  // Also of a mail that is not kept: what is left of the quota must not tell.
  await otp.chargeQuota(trx, 'email', now)
  return mail
}

/** Queues the second mail, or the first one with what the second would prove. */
async function askCurrent(
  house: QuestionHouse,
  trx: Trx,
  person: UserRecord,
  { current, newEmail, first }: { current: string; newEmail: string; first: Question | undefined },
  context: LinkContext,
  now: Date,
): Promise<void> {
  const { mailer, otp } = house
  // The client is told the id of the first mail only.
  const { messageId: _, ...rest } = context
  const asked = { kind: 'email_change_current', to: current, newEmail } as const
  const second = await question(house, trx, person, asked, rest, now)
  await mailer.queue(trx, first ? { ...first, second: second.proof } : second, now)
  await otp.chargeQuota(trx, 'email', now)
}

/** Makes the link, and the mail that is to carry it. */
async function question(
  { config, otp }: House<'config' | 'otp'>,
  trx: Trx,
  person: UserRecord,
  { kind, to, newEmail }: Asked,
  context: LinkContext,
  now: Date,
): Promise<Question> {
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
