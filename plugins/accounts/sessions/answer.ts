/**
 * The answer to whoever has just got a session. It is asked for when the transaction that stored the session has ended,
 * because the operator may have a hook for the claims of access tokens, and a hook may take its time.
 */
import { deleteSession } from '../../../db/sessions.ts'
import type { Session } from '../../../schemas/session.ts'
import type { House } from '../../define-plugin.ts'
import { forgetNewDevice, type SignIn, tellOfNewDevice } from './new-device.ts'
import { type SessionFacts, toSession } from './to-session.ts'

type StoredHouse = House<'hooks' | 'jwt'>
type AnswerHouse = StoredHouse & House<'config' | 'db' | 'emails' | 'encryption'>

/** A session that was opened just now: its client has nothing of it yet. */
export interface StoredSession {
  facts: SessionFacts
  /** Made already where no hook has a say in it. */
  ready: Session | undefined
  /** Of which the person is told when the session stands. */
  newDevice: SignIn | undefined
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
