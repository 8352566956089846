/** The only functions that revoke sessions. When all are revoked, pending flows and codes are deleted too. */
import type { FastifyInstance } from 'fastify'

import { deleteAdminLinksBy } from '../../db/admins/admins.ts'
import type { Trx } from '../../db/core/database.ts'
import { deleteFlowStates, deleteIssuedFlowStates } from '../../db/flows/flow-states.ts'
import { revokeConsents } from '../../db/oauth-server/consents.ts'
import { deletePageSessions } from '../../db/oauth-server/page-sessions.ts'
import { deleteApprovedCodes } from '../../db/oauth-server/sessions.ts'
import { deletePrivilegedInvitationsBy } from '../../db/organizations/invitations.ts'
import { deleteImpersonationsBy } from '../../db/sessions/impersonations.ts'
import { deleteSession, deleteSessions } from '../../db/sessions/sessions.ts'
import { voidTokensMadeBy } from '../../db/tokens/made-by.ts'
import { cancelUnconfirmedEmailChange, dropPhoneChange } from '../../db/tokens/pending-changes.ts'
import { lockUser } from '../../db/users/update-user.ts'
import { administrativePermissions } from '../../schemas/organizations/permissions.ts'

/** Commands write events without the plugin. */
export interface EventWriter {
  events: Pick<FastifyInstance['events'], 'draft' | 'write'>
}

interface KeptSession {
  /** The id of a session that is kept. */
  except?: string | undefined
  /** Keeps flows whose link was not opened: one may belong to the link that is being verified. */
  keepsUnopened?: boolean
  /**
   * Keeps the consents to OAuth clients that are older than a day, at an ordinary sign-out. Newer ones end: the user may
   * sign out because of the notification of one.
   */
  keepsConsents?: boolean
}

/** Locks the user first, as session creation does, so that none is created concurrently. */
export async function revokeAllSessions(
  app: Pick<FastifyInstance, 'config'> & EventWriter,
  trx: Trx,
  userId: string,
  { except, keepsUnopened, keepsConsents }: KeptSession,
  now: Date,
): Promise<void> {
  const { config } = app
  const deleteFlows = keepsUnopened ? deleteIssuedFlowStates : deleteFlowStates
  await lockUser(trx, userId)
  // Before the sessions: a callback locks the flow first and then rows of its session, so the other order could
  // deadlock. And after them, for a flow that was started concurrently.
  await deleteFlows(trx, userId)
  await emitSessionEnded(app, trx, userId, await deleteSessions(trx, userId, except), now)
  await deleteFlows(trx, userId)
  await endAccessToOthers(trx, userId)
  // After the sessions: an attacker may have given one in a session that has just ended.
  const endsConsents = !keepsConsents || config.AUTH_OAUTH_SERVER_ENABLED
  const since = keepsConsents ? oneDayBefore(now) : null
  if (endsConsents) await revokeConsents(trx, userId, since, now)
  if (config.AUTH_CONSOLE_ENABLED) await deleteAdminLinksBy(trx, userId)
  if (config.AUTH_ORGANIZATIONS_ENABLED) {
    await deletePrivilegedInvitationsBy(trx, userId, privileged)
  }
  // An attacker may have approved them in the session that is kept.
  if (config.AUTH_OAUTH_SERVER_ENABLED) await deleteApprovedCodes(trx, userId)
  // Its code goes to the requester, as does the link of an email change, unless the current address must confirm.
  await dropPhoneChange(trx, userId)
  const { AUTH_MAILER_AUTOCONFIRM, AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED } = config
  const requiresCurrent = AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED && !AUTH_MAILER_AUTOCONFIRM
  await cancelUnconfirmedEmailChange(trx, userId, { requiresCurrent })
}

/**
 * Ends the impersonations by this admin, and voids the links that the admin got to accounts of others. Also while
 * AUTH_ADMIN_IMPERSONATION_ENABLED is off: they may be from before.
 */
export async function endAccessToOthers(trx: Trx, userId: string): Promise<void> {
  await deleteImpersonationsBy(trx, userId)
  await voidTokensMadeBy(trx, userId)
}

/** What an invitation of a stolen session would give control of an organization by. */
const privileged = { roles: ['owner', 'admin'], permissions: administrativePermissions }

/** As long as a new sign-in method authorizes no change. */
const oneDayBefore = (now: Date) => new Date(now.getTime() - 24 * 3_600_000)

/** Revokes one session and locks the user first, like `revokeAllSessions`; false when the user has no such session. */
export async function revokeSession(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  await lockUser(trx, userId)
  const isEnded = await deleteSession(trx, userId, sessionId)
  if (isEnded) await emitSessionEnded(app, trx, userId, [sessionId], now)
  return isEnded
}

/** Emits the events of deleted sessions. */
export async function emitSessionEnded(
  { events }: EventWriter,
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
 * For a banned user: the sessions are rejected until the end of the ban. Pending flows and codes are deleted, and so are
 * the sessions of the hosted pages and those in which the user acts as others.
 */
export async function suspendSessions(trx: Trx, userId: string): Promise<void> {
  await lockUser(trx, userId)
  await deleteAdminLinksBy(trx, userId)
  await deleteFlowStates(trx, userId)
  await deleteApprovedCodes(trx, userId)
  await endAccessToOthers(trx, userId)
  await deletePageSessions(trx, userId)
}
