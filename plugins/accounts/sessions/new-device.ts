/** Telling people that somebody signed in from a device that their account has not been used from before. */
import { type Db, isInTransaction, type Trx } from '../../../db/database.ts'
import { forgetSignInDevice, noteSignInDevice } from '../../../db/sign-in-devices.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import { deviceNameOf } from './device-name.ts'
import { endLink } from './end-link.ts'

/** A sign-in whose session is about to be stored. */
export interface SignIn {
  person: UserRecord
  sessionId: string
  client: Client
  deviceHash: string | null
}

/** Whoever has the password must not fill the mailbox by names that they make up; by then its owner has been told. */
const mostADay = 20

type AlertHouse = House<'config' | 'emails' | 'encryption'>

/**
 * Stores the session and, when its device is a new one, queues the mail, in one transaction. Returns the sign-in whose
 * mail waits, where a hook has yet to say whether it stands.
 */
export async function storeAndTell(
  house: AlertHouse & House<'hooks'>,
  db: Db,
  signIn: SignIn,
  store: (trx: Trx) => Promise<void>,
  now: Date,
): Promise<SignIn | undefined> {
  const work = async (trx: Trx) => {
    const isNew = await isNewDevice(trx, signIn, now)
    await store(trx)
    if (!isNew) return undefined
    if (house.hooks.customizeAccessToken) return signIn
    await tell(house, trx, signIn, now)
    return undefined
  }
  return isInTransaction(db) ? work(db) : db.transaction().execute(work)
}

/** The sign-in from a new device stands. */
export async function tellOfNewDevice(
  house: AlertHouse & House<'db'>,
  signIn: SignIn,
  now: Date,
): Promise<void> {
  await house.db.transaction().execute((trx) => tell(house, trx, signIn, now))
}

/** It does not: the next one from there is the first, and is told of. */
export async function forgetNewDevice({ db }: House<'db'>, signIn: SignIn): Promise<void> {
  const { person, client, deviceHash } = signIn
  const device = deviceNameOf(client.userAgent)
  await forgetSignInDevice(db, { userId: person.id, device, deviceHash })
}

/** Not at somebody's first sign-in: everything is new then. */
async function isNewDevice(
  trx: Trx,
  { person, client, deviceHash }: SignIn,
  now: Date,
): Promise<boolean> {
  const device = deviceNameOf(client.userAgent)
  const noted = await noteSignInDevice(trx, { userId: person.id, device, deviceHash, now })
  if (!noted?.isNew || !noted.hasSignedIn || noted.isKnown) return false
  if (noted.usedToday >= mostADay) return false
  return !noted.userAgents.map(deviceNameOf).includes(device)
}

async function tell(
  house: AlertHouse,
  trx: Trx,
  { person, sessionId, client }: SignIn,
  now: Date,
): Promise<void> {
  const alert = {
    kind: 'new_sign_in_notification',
    Device: deviceNameOf(client.userAgent),
    IPAddress: client.ip ?? '',
    SignedInAt: now.toISOString(),
    EndSessionURL: endLink(house, { userId: person.id, sessionId }, now),
  } as const
  await house.emails.notify(trx, person, alert, now)
}
