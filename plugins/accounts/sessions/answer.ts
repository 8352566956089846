/**
 * The answer to whoever has just got a session. It is asked for when the transaction that stored the session has ended,
 * because the operator may have a hook for the claims of access tokens, and a hook may take its time.
 */
import { deleteSession } from '../../../db/sessions.ts'
import type { Session } from '../../../schemas/session.ts'
import type { House } from '../../define-plugin.ts'
import { type SessionFacts, toSession } from './to-session.ts'

type AnswerHouse = House<'db' | 'hooks' | 'jwt'>

export interface StoredSession {
  facts: SessionFacts
  /** Opened just now, so that nobody has it when it cannot be answered with. */
  isNew: boolean
  /** Made already where no hook has a say in it. */
  ready: Session | undefined
}

/** The session as far as it can be answered with before its transaction ends. Throws token_too_large. */
export async function stored(
  house: AnswerHouse,
  facts: SessionFacts,
  { isNew }: Pick<StoredSession, 'isNew'>,
  now: Date,
): Promise<StoredSession> {
  const ready = house.hooks.customizeAccessToken ? undefined : await toSession(house, facts, now)
  return { facts, isNew, ready }
}

/**
 * What the client is answered, after the commit. Throws HookError and token_too_large: a session that was opened for it
 * is gone then; what its proof has changed stays.
 */
export async function answer(
  house: AnswerHouse,
  { facts, isNew, ready }: StoredSession,
  now: Date,
): Promise<Session> {
  if (ready) return ready
  try {
    return await toSession(house, facts, now)
  } catch (error) {
    if (isNew) await deleteSession(house.db, facts.person.id, facts.session.session_id)
    throw error
  }
}
