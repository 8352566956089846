/** Notifies users of a sign-in from a new device. */
import { type Db, isInTransaction, type Trx } from '../../db/core/database.ts'
import { forgetSignInDevice, recordSignInDevice } from '../../db/sessions/sign-in-devices.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { notifyUser } from '../emails/index.ts'
import { getDeviceName } from './device-name.ts'
import { logoutLink } from './logout-link.ts'

/** A sign-in before its session is stored. */
export interface NewDeviceSignIn {
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

type AlertDeps = Deps<'config' | 'emails' | 'encryption'>

/**
 * Stores the session and, for a new device, queues the email in one transaction. Returns the sign-in whose email waits
 * for a hook.
 */
export async function storeSessionAndQueueAlert(
  deps: AlertDeps & Deps<'hooks'>,
  db: Db,
  signIn: NewDeviceSignIn,
  store: (trx: Trx) => Promise<void>,
  now: Date,
): Promise<NewDeviceSignIn | undefined> {
  const work = async (trx: Trx) => {
    const isNew = await isNewDevice(trx, signIn, now)
    await store(trx)
    if (!isNew) return undefined
    if (deps.hooks.customizeAccessToken) return signIn
    await queueNotification(deps, trx, signIn, now)
    return undefined
  }
  return isInTransaction(db) ? work(db) : db.transaction().execute(work)
}

/** Called after the sign-in has succeeded. */
export async function notifyNewDevice(
  deps: AlertDeps & Deps<'db'>,
  signIn: NewDeviceSignIn,
  now: Date,
): Promise<void> {
  await deps.db.transaction().execute((trx) => queueNotification(deps, trx, signIn, now))
}

/** After a failed sign-in: the next one from this device is reported. */
export async function forgetNewDevice({ db }: Deps<'db'>, signIn: NewDeviceSignIn): Promise<void> {
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
  deps: AlertDeps,
  trx: Trx,
  { user, sessionId, clientInfo }: NewDeviceSignIn,
  now: Date,
): Promise<void> {
  const alert = {
    kind: 'new_sign_in_notification',
    Device: getDeviceName(clientInfo.userAgent),
    IPAddress: clientInfo.ip ?? '',
    SignedInAt: now.toISOString(),
    EndSessionURL: logoutLink(deps, { userId: user.id, sessionId }, now),
  } as const
  await notifyUser(deps.emails, trx, user, alert, now)
}
