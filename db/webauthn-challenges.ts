/** Challenges of passkeys, in the form that GoTrue stores; beside them, the session that alone may answer. */
import type { ColumnType } from 'kysely'

import type { Db } from './database.ts'
import { preparedRow, preparedWrite, type ValueOf } from './prepared-statement.ts'

export interface WebauthnChallengesTable {
  id: string
  /** Null for a sign-in: nobody knows yet who will answer. */
  user_id: string | null
  challenge_type: 'registration' | 'authentication'
  /** JSON of GoTrue's WebAuthn library. */
  session_data: ColumnType<unknown, string, never>
  created_at: Date
  expires_at: Date
}

export interface PasskeyChallengesTable {
  challenge_id: string
  /** Null once the session has ended. */
  session_id: string | null
}

export interface NewChallenge {
  id: string
  sessionData: object
  expiresAt: Date
  /** Who registers a passkey, and in which session; absent for a sign-in. */
  asker?: Asker
}

export interface Asker {
  userId: string
  sessionId: string
}

interface ChallengeValues {
  id: string
  sessionData: string
  expiresAt: Date
  now: Date
}

const insertForSignIn = preparedWrite((db, value: ValueOf<ChallengeValues>) =>
  db.insertInto('webauthn_challenges').values({
    id: value('id'),
    user_id: null,
    challenge_type: 'authentication',
    session_data: value('sessionData'),
    created_at: value('now'),
    expires_at: value('expiresAt'),
  }),
)

/** The challenge and its session. */
const insertForRegistration = preparedWrite((db, value: ValueOf<ChallengeValues & Asker>) =>
  db
    .with('made', (eb) =>
      eb.insertInto('webauthn_challenges').values({
        id: value('id'),
        user_id: value('userId'),
        challenge_type: 'registration',
        session_data: value('sessionData'),
        created_at: value('now'),
        expires_at: value('expiresAt'),
      }),
    )
    .insertInto('postern_passkey_challenges')
    .values({ challenge_id: value('id'), session_id: value('sessionId') }),
)

export async function insertPasskeyChallenge(
  db: Db,
  { id, sessionData, expiresAt, asker }: NewChallenge,
  now: Date,
): Promise<void> {
  const values = { id, sessionData: JSON.stringify(sessionData), expiresAt, now }
  if (asker) await insertForRegistration(db, { ...values, ...asker })
  else await insertForSignIn(db, values)
}

export interface TakenChallenge {
  session_data: unknown
  expires_at: Date
}

const takeForSignIn = preparedRow((db, value: ValueOf<{ id: string }>) =>
  db
    .deleteFrom('webauthn_challenges')
    .where('id', '=', value('id'))
    .where('challenge_type', '=', 'authentication')
    .where('user_id', 'is', null)
    .returning(['session_data', 'expires_at']),
)

/** Spends the challenge of a sign-in, expired or not; undefined when there is none. */
export function takeSignInChallenge(db: Db, id: string): Promise<TakenChallenge | undefined> {
  return takeForSignIn(db, { id })
}

const takeForRegistration = preparedRow((db, value: ValueOf<Asker & { id: string }>) =>
  db
    .deleteFrom('webauthn_challenges')
    .where((eb) => {
      const asked = eb
        .selectFrom('postern_passkey_challenges')
        .select('challenge_id')
        .whereRef('challenge_id', '=', 'webauthn_challenges.id')
      // One without a row of ours was made by GoTrue, which ties it to the person alone.
      return eb.or([
        eb.exists(asked.where('session_id', '=', value('sessionId'))),
        eb.not(eb.exists(asked)),
      ])
    })
    .where('webauthn_challenges.id', '=', value('id'))
    .where('webauthn_challenges.challenge_type', '=', 'registration')
    .where('webauthn_challenges.user_id', '=', value('userId'))
    .returning(['webauthn_challenges.session_data', 'webauthn_challenges.expires_at']),
)

/** Spends the challenge of a registration, expired or not; undefined when this session has not asked for it. */
export function takeRegistrationChallenge(
  db: Db,
  id: string,
  asker: Asker,
): Promise<TakenChallenge | undefined> {
  return takeForRegistration(db, { id, ...asker })
}
