/** The only functions that revoke sessions. When all are revoked, pending flows and codes are deleted too. */
import type { Trx } from '../../db/core/database.ts'
import { deleteFlowStates, deleteIssuedFlowStates } from '../../db/flows/flow-states.ts'
import { revokeConsents } from '../../db/oauth-server/consents.ts'
import { deleteApprovedCodes } from '../../db/oauth-server/sessions.ts'
import { deleteImpersonationsBy } from '../../db/sessions/impersonations.ts'
import { deleteSession, deleteSessions } from '../../db/sessions/sessions.ts'
import { cancelUnconfirmedEmailChange } from '../../db/tokens/email-changes.ts'
import { dropPhoneChange } from '../../db/tokens/phone-tokens.ts'
import { lockUser } from '../../db/users/update-user.ts'
import type { Deps } from '../../plugins/define-plugin.ts'

interface KeptSession {
  /** The id of a session that is kept. */
  except?: string | undefined
  /** Keeps flows whose link was not opened: one may belong to the link that is being verified. */
  keepsUnopened?: boolean
  /** Keeps the consents to OAuth clients, at an ordinary sign-out. */
  keepsConsents?: boolean
}

/** Locks the user first, as session creation does, so that none is created concurrently. */
export async function revokeAllSessions(
  deps: Deps<'config' | 'events'>,
  trx: Trx,
  userId: string,
  { except, keepsUnopened, keepsConsents }: KeptSession,
  now: Date,
): Promise<void> {
  const { config } = deps
  const deleteFlows = keepsUnopened ? deleteIssuedFlowStates : deleteFlowStates
  await lockUser(trx, userId)
  // Before the sessions: a callback locks the flow first and then rows of its session, so the other order could
  // deadlock. And after them, for a flow that was started concurrently.
  await deleteFlows(trx, userId)
  await emitSessionEnded(deps, trx, userId, await deleteSessions(trx, userId, except), now)
  await deleteFlows(trx, userId)
  // Also while AUTH_ADMIN_IMPERSONATION_ENABLED is off: they may be from before.
  await deleteImpersonationsBy(trx, userId)
  // After the sessions: an attacker may have given one in a session that has just ended.
  if (!keepsConsents) await revokeConsents(trx, userId, now)
  // An attacker may have approved them in the session that is kept.
  if (config.AUTH_OAUTH_SERVER_ENABLED) await deleteApprovedCodes(trx, userId)
  // Its code goes to the requester, as does the link of an email change, unless the current address must confirm.
  await dropPhoneChange(trx, userId)
  const { AUTH_MAILER_AUTOCONFIRM, AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED } = config
  const requiresCurrent = AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED && !AUTH_MAILER_AUTOCONFIRM
  await cancelUnconfirmedEmailChange(trx, userId, { requiresCurrent })
}

/** Revokes one session and locks the user first, like `revokeAllSessions`; false when the user has no such session. */
export async function revokeSession(
  deps: Deps<'events'>,
  trx: Trx,
  userId: string,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  await lockUser(trx, userId)
  const isEnded = await deleteSession(trx, userId, sessionId)
  if (isEnded) await emitSessionEnded(deps, trx, userId, [sessionId], now)
  return isEnded
}

/** Emits the events of deleted sessions. */
export async function emitSessionEnded(
  { events }: Deps<'events'>,
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

/**
 * For a banned user: the sessions are rejected until the end of the ban, pending flows and codes are deleted, and so are
 * the sessions in which the user acts as others.
 */
export async function suspendSessions(trx: Trx, userId: string): Promise<void> {
  await lockUser(trx, userId)
  await deleteFlowStates(trx, userId)
  await deleteApprovedCodes(trx, userId)
  await deleteImpersonationsBy(trx, userId)
}
