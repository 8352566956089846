/** The doors by which sessions end before their time, and with all of them whatever was begun and not finished. */
import type { Trx } from '../../../db/database.ts'
import { dropUnaskedEmailChange } from '../../../db/email-changes.ts'
import { dropPhoneChange } from '../../../db/phone-tokens.ts'
import { deleteSession, deleteSessions } from '../../../db/sessions.ts'
import { lockUser } from '../../../db/user-rows.ts'
import type { House } from '../../define-plugin.ts'

export interface Staying {
  /** The id of a session that stays. */
  except?: string | undefined
  /** Flows whose link was not opened yet stay, for the link that proves the address now may have one. */
  keepsUnopened?: boolean
}

/** Holds the person first, as everything does that opens a session, so that none is opened meanwhile. */
export async function endAll(
  house: House<'config' | 'events' | 'flows'>,
  trx: Trx,
  userId: string,
  { except, keepsUnopened }: Staying,
  now: Date,
): Promise<void> {
  const { config, flows } = house
  const endFlows = keepsUnopened ? flows.deleteAnsweredOf : flows.deleteOf
  await lockUser(trx, userId)
  // Before the sessions, for a callback takes the flow first and then what of it ends with its session: the other way
  // round, each would wait for the other. And after them, for one that was begun meanwhile.
  await endFlows(trx, userId)
  await tellEnded(house, trx, userId, await deleteSessions(trx, userId, except), now)
  await endFlows(trx, userId)
  // Its code goes to whoever began it, and so does the link of another address, unless the current mailbox has to agree.
  await dropPhoneChange(trx, userId)
  const { AUTH_MAILER_AUTOCONFIRM, AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED } = config
  const asksCurrent = AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED && !AUTH_MAILER_AUTOCONFIRM
  await dropUnaskedEmailChange(trx, userId, { asksCurrent })
}

/** Ends one session of a person, whom it holds first, like `endAll`; false when it is not theirs or gone. */
export async function end(
  house: House<'events'>,
  trx: Trx,
  userId: string,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  await lockUser(trx, userId)
  const isEnded = await deleteSession(trx, userId, sessionId)
  if (isEnded) await tellEnded(house, trx, userId, [sessionId], now)
  return isEnded
}

/** The events of sessions that were just deleted. */
export async function tellEnded(
  { events }: House<'events'>,
  trx: Trx,
  userId: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  const drafts = ids.flatMap((session_id) =>
    events.draft('session.revoked', userId, { session_id }),
  )
  await events.write(trx, drafts, now)
}

/** For somebody who is banned: their sessions are refused until the ban is over, what is under way ends. */
export async function suspendAll(
  { flows }: House<'flows'>,
  trx: Trx,
  userId: string,
): Promise<void> {
  await lockUser(trx, userId)
  await flows.deleteOf(trx, userId)
}
