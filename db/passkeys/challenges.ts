import type { Db } from '../core/database.ts'
import { executeStatement, type ParamOf, queryOne } from '../core/statement.ts'

interface NewPasskeyChallenge {
  id: string
  sessionData: object
  expiresAt: Date
  /** The user and session of a registration; absent for an authentication. */
  requester?: ChallengeRequester
}

export interface ChallengeRequester {
  userId: string
  sessionId: string
}

interface ChallengeValues {
  id: string
  sessionData: string
  expiresAt: Date
  now: Date
}

const insertForSignIn = executeStatement((db, value: ParamOf<ChallengeValues>) =>
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
const insertForRegistration = executeStatement(
  (db, value: ParamOf<ChallengeValues & ChallengeRequester>) =>
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
  { id, sessionData, expiresAt, requester }: NewPasskeyChallenge,
  now: Date,
): Promise<void> {
  const values = { id, sessionData: JSON.stringify(sessionData), expiresAt, now }
  if (requester) await insertForRegistration(db, { ...values, ...requester })
  else await insertForSignIn(db, values)
}

export interface TakenChallenge {
  session_data: unknown
  expires_at: Date
}

const takeForSignIn = queryOne((db, value: ParamOf<{ id: string }>) =>
  db
    .deleteFrom('webauthn_challenges')
    .where('id', '=', value('id'))
    .where('challenge_type', '=', 'authentication')
    .where('user_id', 'is', null)
    .returning(['session_data', 'expires_at']),
)

/** Consumes an authentication challenge, expired or not; undefined when there is none. */
export function consumeAuthenticationChallenge(
  db: Db,
  id: string,
): Promise<TakenChallenge | undefined> {
  return takeForSignIn(db, { id })
}

const takeForRegistration = queryOne((db, value: ParamOf<ChallengeRequester & { id: string }>) =>
  db
    .deleteFrom('webauthn_challenges')
    .where((eb) => {
      const owners = eb
        .selectFrom('postern_passkey_challenges')
        .select('challenge_id')
        .whereRef('challenge_id', '=', 'webauthn_challenges.id')
      // A challenge without a row of ours was created by GoTrue, which binds it to the user only.
      return eb.or([
        eb.exists(owners.where('session_id', '=', value('sessionId'))),
        eb.not(eb.exists(owners)),
      ])
    })
    .where('webauthn_challenges.id', '=', value('id'))
    .where('webauthn_challenges.challenge_type', '=', 'registration')
    .where('webauthn_challenges.user_id', '=', value('userId'))
    .returning(['webauthn_challenges.session_data', 'webauthn_challenges.expires_at']),
)

/** Consumes a registration challenge, expired or not; undefined when it was not created for this session. */
export function consumeRegistrationChallenge(
  db: Db,
  id: string,
  requester: ChallengeRequester,
): Promise<TakenChallenge | undefined> {
  return takeForRegistration(db, { id, ...requester })
}
