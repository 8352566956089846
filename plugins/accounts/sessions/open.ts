/** Opening a session for a person whose proof was just accepted. Nothing else opens one for somebody who is there. */
import type { Db } from '../../../db/database.ts'
import { insertSession } from '../../../db/session-open.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { type StoredSession, stored } from './answer.ts'
import { type DraftHouse, draft, isOwnDevice, type SignInProof } from './draft.ts'
import { storeAndTell } from './new-device.ts'
import { findStaleness } from './stale-proof.ts'

type OpenHouse = DraftHouse & House<'config' | 'db' | 'emails' | 'hooks' | 'jwt' | 'telemetry'>

/**
 * Opens the session in one statement; `sessions.answer` makes of it what the client is answered. Where people are told of
 * new devices, it opens a transaction if it was given none. Throws token_too_large, user_banned, or what the method refuses
 * with, when the person has been banned, deleted or given another password since the proof was checked.
 */
export async function open(
  house: OpenHouse,
  db: Db,
  person: UserRecord,
  proof: SignInProof,
  now: Date,
): Promise<StoredSession> {
  const { opening, facts } = draft(house, person, proof, now)
  // Before the session is stored: a token that is refused leaves none behind.
  const opened = await stored(house, facts, now)
  const store = async (handle: Db) => {
    if (await insertSession(handle, opening, now)) return
    throw await findStaleness(handle, person.id, proof, now)
  }
  const { session, deviceHash } = opening
  const signIn = { person: facts.person, sessionId: session.id, client: proof.client, deviceHash }
  const isWatched = isOwnDevice(proof) && house.config.AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED
  const newDevice = isWatched ? await storeAndTell(house, db, signIn, store, now) : undefined
  if (!isWatched) await store(db)
  house.telemetry.metrics.count('postern.sign_ins', { method: proof.method, outcome: 'accepted' })
  return { ...opened, newDevice }
}
