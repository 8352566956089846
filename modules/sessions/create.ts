/**
 * Creates sessions of existing users; no other code does. The response is built after the commit, because an access
 * token hook may be slow.
 */
import type { Db } from '../../db/core/database.ts'
import { deleteDeactivatedSession } from '../../db/scim/deactivation.ts'
import { insertSession } from '../../db/sessions/insert-session.ts'
import { deleteSession } from '../../db/sessions/sessions.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { userDeactivated } from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import {
  type AuthenticationEvent,
  type BuildSessionDeps,
  buildSession,
  isUserDevice,
} from './build.ts'
import { findInvalidationReason } from './invalidation.ts'
import {
  forgetNewDevice,
  type NewDeviceSignIn,
  notifyNewDevice,
  storeSessionAndQueueAlert,
} from './new-device-alert.ts'
import { type AccessTokenInput, toSession } from './token-response.ts'

type StoredDeps = Deps<'bearerAuth' | 'hooks' | 'jwt'>
type OpenDeps = BuildSessionDeps & Deps<'config' | 'db' | 'emails' | 'hooks' | 'jwt' | 'telemetry'>
type EmailRequestDeps = StoredDeps & Deps<'config' | 'db' | 'emails' | 'encryption'>

/** A new session before its response. */
export interface CreatedSession {
  facts: AccessTokenInput
  /** The response, if no hook is involved. */
  ready: Session | undefined
  /** For the new sign-in notification after the sign-in has succeeded. */
  newDevice: NewDeviceSignIn | undefined
}

/**
 * Inserts the session in one statement; `toTokenResponse` builds the response. With new sign-in notifications it starts
 * a transaction if none is given. Throws token_too_large, user_banned, or the error of the method, when the user was
 * banned, deleted or changed the password since the authentication.
 */
export async function createSession(
  deps: OpenDeps,
  db: Db,
  user: UserRecord,
  authentication: AuthenticationEvent,
  now: Date,
): Promise<CreatedSession> {
  const { opening, facts } = buildSession(deps, user, authentication, now)
  const checksProvisioning = deps.config.AUTH_EXPERIMENTAL_SCIM_ENABLED
  // Before the session is stored: a rejected token must store nothing.
  const opened = await prepareTokenResponse(deps, facts, now)
  const store = async (handle: Db) => {
    if (await insertSession(handle, { ...opening, checksProvisioning }, now)) {
      if (checksProvisioning) await rejectDeactivated(handle, opening.session.id, authentication)
      return
    }
    throw await findInvalidationReason(handle, user.id, authentication, now)
  }
  const { session, deviceHash } = opening
  const signIn = {
    user: facts.user,
    sessionId: session.id,
    clientInfo: authentication.clientInfo,
    deviceHash,
  }
  const isDeviceNotified =
    isUserDevice(authentication) && deps.config.AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED
  const newDevice = isDeviceNotified
    ? await storeSessionAndQueueAlert(deps, db, signIn, store, now)
    : undefined
  if (!isDeviceNotified) await store(db)
  deps.telemetry.metrics.count('postern.sign_ins', {
    method: authentication.method,
    outcome: 'accepted',
  })
  return { ...opened, newDevice }
}

/**
 * The insert may have waited for a concurrent deactivation, which its condition does not see. A session stored before
 * the deactivation is deleted by it; one stored after it is deleted here. Throws user_deactivated.
 */
async function rejectDeactivated(
  db: Db,
  sessionId: string,
  { method }: AuthenticationEvent,
): Promise<void> {
  if (!(await deleteDeactivatedSession(db, sessionId))) return
  throw userDeactivated(method === 'password' ? 400 : 403)
}

/** The response as far as it can be built before the commit. Throws token_too_large. */
export async function prepareTokenResponse(
  deps: StoredDeps,
  facts: AccessTokenInput,
  now: Date,
): Promise<CreatedSession> {
  const ready = deps.hooks.customizeAccessToken ? undefined : await toSession(deps, facts, now)
  return { facts, ready, newDevice: undefined }
}

/**
 * Builds the response after the commit. Throws HookError and token_too_large: the session is then deleted, other
 * effects of the authentication are kept.
 */
export async function toTokenResponse(
  deps: EmailRequestDeps,
  { facts, ready, newDevice }: CreatedSession,
  now: Date,
): Promise<Session> {
  if (ready) return ready
  let session: Session
  try {
    session = await toSession(deps, facts, now)
  } catch (error) {
    await deleteSession(deps.db, facts.user.id, facts.session.session_id)
    if (newDevice) await forgetNewDevice(deps, newDevice)
    throw error
  }
  if (newDevice) await notifyNewDevice(deps, newDevice, now)
  return session
}
