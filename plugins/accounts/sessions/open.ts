/**
 * Opening a session for a person whose proof was just accepted, and what its client is answered. Nothing else opens one for
 * somebody who is there. The answer is asked for when the transaction that stored the session has ended, because the operator
 * may have a hook for the claims of access tokens, and a hook may take its time.
 */
import type { Db } from '../../../db/database.ts'
import { insertSession } from '../../../db/session-open.ts'
import { deleteSession } from '../../../db/sessions.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Session } from '../../../schemas/session.ts'
import type { House } from '../../define-plugin.ts'
import { type DraftHouse, draft, isOwnDevice, type SignInProof } from './draft.ts'
import { forgetNewDevice, type SignIn, storeAndTell, tellOfNewDevice } from './new-device.ts'
import { findStaleness } from './stale-proof.ts'
import { type SessionFacts, toSession } from './to-session.ts'

type StoredHouse = House<'hooks' | 'jwt'>
type OpenHouse = DraftHouse & House<'config' | 'db' | 'emails' | 'hooks' | 'jwt' | 'telemetry'>
type AnswerHouse = StoredHouse & House<'config' | 'db' | 'emails' | 'encryption'>

/** A session that was opened just now: its client has nothing of it yet. */
export interface StoredSession {
  facts: SessionFacts
  /** Made already where no hook has a say in it. */
  ready: Session | undefined
  /** Of which the person is told when the session stands. */
  newDevice: SignIn | undefined
}

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

/** The session as far as it can be answered with before its transaction ends. Throws token_too_large. */
export async function stored(
  house: StoredHouse,
  facts: SessionFacts,
  now: Date,
): Promise<StoredSession> {
  const ready = house.hooks.customizeAccessToken ? undefined : await toSession(house, facts, now)
  return { facts, ready, newDevice: undefined }
}

/**
 * What the client is answered, after the commit. Throws HookError and token_too_large: the session that was opened for
 * it is gone then; what its proof has changed stays.
 */
export async function answer(
  house: AnswerHouse,
  { facts, ready, newDevice }: StoredSession,
  now: Date,
): Promise<Session> {
  if (ready) return ready
  let session: Session
  try {
    session = await toSession(house, facts, now)
  } catch (error) {
    await deleteSession(house.db, facts.person.id, facts.session.session_id)
    if (newDevice) await forgetNewDevice(house, newDevice)
    throw error
  }
  if (newDevice) await tellOfNewDevice(house, newDevice, now)
  return session
}
