/** What each request for a mail comes to, once it is known who lives at the address. */
import type { Trx } from '../../../../db/database.ts'
import type { Metadata, UserRecord } from '../../../../db/users.ts'
import type { House } from '../../../define-plugin.ts'
import type { AuditAction } from '../../audit/entry.ts'
import type { LinkContext } from '../../flows/link-context.ts'
import type { Approval } from '../../users/approval.ts'
import { repeatEmailChange } from '../email-change.ts'

/** Plain JSON, so that a queue can hold it. */
export interface EmailRequest {
  kind: 'recovery' | 'magic_link' | 'confirmation' | 'email_change'
  /** In its stored form. */
  address: string
  aud: string
  /** For a person who is signed up by this. */
  data: Metadata
  context: LinkContext
  ip: string
}

/** A request, and whether it may make an account; undefined where none is to be made. */
export interface ApprovedRequest extends EmailRequest {
  approval: Approval | undefined
}

export type AnswerHouse = House<'audit' | 'config' | 'emails' | 'otp' | 'users'>

type Answer = (
  house: AnswerHouse,
  trx: Trx,
  request: ApprovedRequest,
  person: UserRecord | undefined,
  now: Date,
) => Promise<void>

const answers: Record<EmailRequest['kind'], Answer> = {
  async recovery(house, trx, request, person, now) {
    if (person) await send(house, trx, 'recovery', person, request, now)
  },

  async magic_link(house, trx, request, person, now) {
    if (person && mayKeepAccount(house, person)) {
      await send(house, trx, 'magic_link', person, request, now)
    } else if (!house.config.AUTH_DISABLE_SIGNUP) {
      await signUp(house, trx, request, now)
    }
  },

  async confirmation(house, trx, request, person, now) {
    // An invitation is a confirmation already: a second one would void it.
    if (!person || person.email_confirmed_at || person.invited_at) return
    await send(house, trx, 'confirmation', person, request, now)
  },

  async email_change(house, trx, request, person, now) {
    if (!person?.email_change) return
    await house.otp.checkRepeat(trx, 'email', 'email_change', request.address, now)
    await repeatEmailChange(house, trx, person, request.context, now)
  },
}

/** Sends what the request comes to, if anything. */
export async function answer(
  house: AnswerHouse,
  trx: Trx,
  request: ApprovedRequest,
  now: Date,
): Promise<void> {
  const person = await house.users.lockByEmail(trx, request.address, request.aud)
  await answers[request.kind](house, trx, request, person, now)
}

async function send(
  { audit, emails }: House<'audit' | 'emails'>,
  trx: Trx,
  kind: 'recovery' | 'magic_link' | 'confirmation',
  person: UserRecord,
  { context, ip }: EmailRequest,
  now: Date,
): Promise<void> {
  await emails.sendLink(trx, kind, person, context, now)
  const action: AuditAction =
    kind === 'confirmation' ? 'user_confirmation_requested' : 'user_recovery_requested'
  await audit.record(trx, action, person, { ip, now })
}

/** Nobody has proven this address: whoever asks is signed up without a password, by the proof if there is an account. */
async function signUp(
  house: AnswerHouse,
  trx: Trx,
  request: ApprovedRequest,
  now: Date,
): Promise<void> {
  const { users } = house
  const { address, aud, data, approval } = request
  const contact = { provider: 'email' as const, address }
  const registrant = { contact, aud, passwordHash: null, data, approval, byAdmin: false }
  const registered = await users.register(trx, registrant, now)
  if (!registered) return
  const { user: person, claim } = registered
  if (claim || !users.emailAutoconfirm) {
    await send(house, trx, 'confirmation', person, request, now)
    return users.keepForProof(trx, registered, now)
  }
  const proven = await users.proveEmail(trx, person.id, {}, now)
  await send(house, trx, 'magic_link', proven, request, now)
}

/**
 * An account that is proven, invited or could not be made anew is entered as it is, and the link into it clears
 * what was never proven; any other one is signed up again by its link.
 */
function mayKeepAccount({ config }: House<'config'>, person: UserRecord): boolean {
  const isProven = person.email_confirmed_at !== null || person.phone_confirmed_at !== null
  const isFixed = config.AUTH_MAILER_AUTOCONFIRM || config.AUTH_DISABLE_SIGNUP
  return isProven || person.invited_at !== null || isFixed
}
