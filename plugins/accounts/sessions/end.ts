/** The one door by which all sessions of a person end, and with them whatever was begun and not finished. */
import type { Trx } from '../../../db/database.ts'
import { deleteSessions } from '../../../db/sessions.ts'
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
  { flows }: House<'flows'>,
  trx: Trx,
  userId: string,
  { except, keepsUnopened }: Staying,
): Promise<void> {
  await lockUser(trx, userId)
  await deleteSessions(trx, userId, except)
  if (keepsUnopened) await flows.deleteAnsweredOf(trx, userId)
  else await flows.deleteOf(trx, userId)
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
