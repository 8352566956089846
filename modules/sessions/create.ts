/**
 * Creates sessions of existing users; no other code does. The response is built after the commit, because an access
 * token hook may be slow.
 */
import type { FastifyInstance } from 'fastify'

import { type Db, isInTransaction, type Trx } from '../../db/core/database.ts'
import { deleteDeactivatedSession, isDeactivated } from '../../db/scim/deactivation.ts'
import { forgetSignInDevice, recordSignInDevice } from '../../db/sessions/devices.ts'
import { insertSession } from '../../db/sessions/insert-session.ts'
import { deleteSession } from '../../db/sessions/sessions.ts'
import type { AmrMethod } from '../../db/tables/sessions.ts'
import { findUser, isBanned, type UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  type ApiError,
  flowStateNotFound,
  invalidCredentials,
  otpExpired,
  userBanned,
  userDeactivated,
  userNotFound,
} from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { notifyUser } from '../emails/index.ts'
import { type AuthenticationEvent, buildSession, isUserDevice } from './build.ts'
import { getDeviceName } from './device-name.ts'
import { logoutLink } from './logout-link.ts'
import { type AccessTokenInput, toSession } from './token-response.ts'

// Notifies users of a sign-in from a new device.

/** A sign-in before its session is stored. */
interface NewDeviceSignIn {
  user: UserRecord
  sessionId: string
  clientInfo: ClientInfo
  deviceHash: string | null
}

/**
 * An attacker with the password must not flood the mailbox by varying the user agent; the owner has been notified
 * before this limit.
 */
const maxAlertsADay = 20

/**
 * Stores the session and, for a new device, queues the email in one transaction. Returns the sign-in whose email waits
 * for a hook.
 */
async function storeSessionAndQueueAlert(
  app: FastifyInstance,
  db: Db,
  signIn: NewDeviceSignIn,
  store: (trx: Trx) => Promise<void>,
  now: Date,
): Promise<NewDeviceSignIn | undefined> {
  const work = async (trx: Trx) => {
    const isNew = await isNewDevice(trx, signIn, now)
    await store(trx)
    if (!isNew) return undefined
    if (app.hooks.customizeAccessToken) return signIn
    await queueNotification(app, trx, signIn, now)
    return undefined
  }
  return isInTransaction(db) ? work(db) : db.transaction().execute(work)
}

/** Called after the sign-in has succeeded. */
async function notifyNewDevice(
  app: FastifyInstance,
  signIn: NewDeviceSignIn,
  now: Date,
): Promise<void> {
  await app.db.transaction().execute((trx) => queueNotification(app, trx, signIn, now))
}

/** After a failed sign-in: the next one from this device is reported. */
async function forgetNewDevice({ db }: FastifyInstance, signIn: NewDeviceSignIn): Promise<void> {
  const { user, clientInfo, deviceHash } = signIn
  const device = getDeviceName(clientInfo.userAgent)
  await forgetSignInDevice(db, { userId: user.id, device, deviceHash })
}

/** Not at the first sign-in of a user. */
async function isNewDevice(
  trx: Trx,
  { user, clientInfo, deviceHash }: NewDeviceSignIn,
  now: Date,
): Promise<boolean> {
  const device = getDeviceName(clientInfo.userAgent)
  const recorded = await recordSignInDevice(trx, { userId: user.id, device, deviceHash, now })
  if (!recorded?.isNew || !recorded.hasSignedIn || recorded.isKnown) return false
  if (recorded.usedToday >= maxAlertsADay) return false
  return !recorded.userAgents.map(getDeviceName).includes(device)
}

async function queueNotification(
  app: FastifyInstance,
  trx: Trx,
  { user, sessionId, clientInfo }: NewDeviceSignIn,
  now: Date,
): Promise<void> {
  const alert = {
    kind: 'new_sign_in_notification',
    Device: getDeviceName(clientInfo.userAgent),
    IPAddress: clientInfo.ip ?? '',
    SignedInAt: now.toISOString(),
    EndSessionURL: logoutLink(app, { userId: user.id, sessionId }, now),
  } as const
  await notifyUser(app, trx, user, alert, now)
}

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
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  authentication: AuthenticationEvent,
  now: Date,
): Promise<CreatedSession> {
  const { opening, facts } = buildSession(app, user, authentication, now)
  const checksProvisioning = app.config.AUTH_EXPERIMENTAL_SCIM_ENABLED
  // Before the session is stored: a rejected token must store nothing.
  const opened = await prepareTokenResponse(app, facts, now)
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
    isUserDevice(authentication) && app.config.AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED
  const newDevice = isDeviceNotified
    ? await storeSessionAndQueueAlert(app, db, signIn, store, now)
    : undefined
  if (!isDeviceNotified) await store(db)
  app.telemetry.metrics.count('postern.sign_ins', {
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
  app: FastifyInstance,
  facts: AccessTokenInput,
  now: Date,
): Promise<CreatedSession> {
  const ready = app.hooks.customizeAccessToken ? undefined : await toSession(app, facts, now)
  return { facts, ready, newDevice: undefined }
}

/**
 * Builds the response after the commit. Throws HookError and token_too_large: the session is then deleted, other
 * effects of the authentication are kept.
 */
export async function toTokenResponse(
  app: FastifyInstance,
  { facts, ready, newDevice }: CreatedSession,
  now: Date,
): Promise<Session> {
  if (ready) return ready
  let session: Session
  try {
    session = await toSession(app, facts, now)
  } catch (error) {
    await deleteSession(app.db, facts.user.id, facts.session.session_id)
    if (newDevice) await forgetNewDevice(app, newDevice)
    throw error
  }
  if (newDevice) await notifyNewDevice(app, newDevice, now)
  return session
}

// Finds why an authentication became invalid before its session was created.

/** The errors that the method returns after the change. */
const methodErrors: Partial<Record<AmrMethod, () => ApiError>> = {
  password: invalidCredentials,
  otp: otpExpired,
  // Methods of an exchanged auth code.
  recovery: flowStateNotFound,
  magiclink: flowStateNotFound,
  'email/signup': flowStateNotFound,
  email_change: flowStateNotFound,
  'sso/saml': flowStateNotFound,
}

/** Returns user_banned or user_deactivated if only that prevents the sign-in, otherwise the error of the method. */
async function findInvalidationReason(
  db: Db,
  userId: string,
  { method, passwordHash }: Pick<AuthenticationEvent, 'method' | 'passwordHash'>,
  now: Date,
): Promise<ApiError> {
  const user = await findUser(db, userId)
  const isRight = method !== 'password' || user?.encrypted_password === passwordHash
  const status = method === 'password' ? 400 : 403
  const isKept = user && !user.deleted_at && isRight
  if (isKept && isBanned(user, now)) return userBanned(status)
  if (isKept && (await isDeactivated(db, userId))) return userDeactivated(status)
  return methodErrors[method]?.() ?? userNotFound()
}
