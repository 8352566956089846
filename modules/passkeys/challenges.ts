/**
 * WebAuthn challenges of passkeys. Each belongs to one ceremony, and a registration also to one session. It is consumed
 * before verification, so that there is one attempt.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Db, Trx } from '../../db/core/database.ts'
import { isForeignKeyViolation } from '../../db/core/foreign-key-violation.ts'
import {
  type ChallengeRequester,
  consumeAuthenticationChallenge,
  consumeRegistrationChallenge,
  insertPasskeyChallenge,
  type TakenChallenge,
} from '../../db/passkeys/challenges.ts'
import { findPasskeys } from '../../db/passkeys/credentials.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  sessionNotFound,
  webauthnChallengeExpired,
  webauthnChallengeNotFound,
} from '../../schemas/errors.ts'
import { requireFreshProof } from '../credentials/index.ts'
import { checkCanAddPasskey, checkPasskeyLimit } from './register.ts'
import type { Ceremonies } from './webauthn/ceremonies.ts'

/** The options for the client, and the challenge id. */
interface PasskeyChallengeInput {
  challenge_id: string
  /** For `navigator.credentials`. */
  options: Record<string, unknown>
  /** Seconds since the Unix epoch. */
  expires_at: number
}

type Options =
  | Awaited<ReturnType<Ceremonies['passkeyCreation']>>
  | Awaited<ReturnType<Ceremonies['passkeyRequest']>>

/** The dependencies of a ceremony. */
export interface PasskeyCeremonyDeps {
  ceremonies: Ceremonies
}

/**
 * Throws validation_failed, insufficient_aal, reauthentication_needed, too_many_passkeys, unexpected_failure, or
 * session_not_found when the session has ended.
 */
export async function createPasskeyRegistration(
  deps: Deps<'bearerAuth' | 'config' | 'credentials'> & PasskeyCeremonyDeps,
  db: Db,
  auth: SessionAuth,
  now: Date,
): Promise<PasskeyChallengeInput> {
  checkCanAddPasskey(deps, auth, now)
  await requireFreshProof(deps.credentials, db, auth, { change: 'passkey' }, now)
  const { user, session } = auth
  const known = await findPasskeys(db, user.id)
  checkPasskeyLimit(deps, known.length)
  const keys = known.map(({ credential_id }) => ({ id: credential_id.toString('base64url') }))
  const options = await deps.ceremonies.passkeyCreation(user, keys)
  const algorithms = options.pubKeyCredParams
  const requester = { userId: user.id, sessionId: session.session_id }
  const handle = deps.ceremonies.userHandle(user.id).toString('base64')
  const challenge = { options, stored: { user_id: handle, credParams: algorithms }, requester }
  const work = async (trx: Trx) => {
    // The user is locked before the session, as in a deletion, to prevent deadlocks.
    await deps.bearerAuth.reauthorizeSession(trx, auth, now)
    return createChallenge(deps, trx, challenge, now)
  }
  return db
    .transaction()
    .execute(work)
    .catch((error) => {
      throw isForeignKeyViolation(error) ? sessionNotFound() : error
    })
}

/** Throws unexpected_failure. */
export async function createPasskeyAuthentication(
  deps: Deps<'config'> & PasskeyCeremonyDeps,
  db: Db,
  now: Date,
): Promise<PasskeyChallengeInput> {
  const options = await deps.ceremonies.passkeyRequest()
  return createChallenge(deps, db, { options, stored: { user_id: null } }, now)
}

interface NewChallenge {
  options: Options
  stored: object
  requester?: ChallengeRequester
}

async function createChallenge(
  { config }: Deps<'config'>,
  db: Db,
  { options, stored, requester }: NewChallenge,
  now: Date,
): Promise<PasskeyChallengeInput> {
  const id = crypto.randomUUID()
  const seconds = config.AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION
  const expiresAt = new Date(now.getTime() + seconds * 1000)
  const sessionData = {
    challenge: options.challenge,
    rpId: config.AUTH_WEBAUTHN_RP_ID,
    ...stored,
    expires: expiresAt,
    userVerification: 'preferred',
  }
  await insertPasskeyChallenge(
    db,
    { id, sessionData, expiresAt, ...(requester && { requester }) },
    now,
  )
  const expires_at = Math.floor(expiresAt.getTime() / 1000)
  return { challenge_id: id, options: { ...options }, expires_at }
}

/**
 * Returns the challenge. Throws webauthn_challenge_not_found or webauthn_challenge_expired, and the errors of
 * `authenticate`.
 */
export async function consumePasskeyRegistration(
  { bearerAuth }: Deps<'bearerAuth'>,
  db: Db,
  id: string,
  auth: SessionAuth,
  now: Date,
): Promise<string> {
  const requester = { userId: auth.user.id, sessionId: auth.session.session_id }
  const taken = await db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeSession(trx, auth, now)
    return consumeRegistrationChallenge(trx, id, requester)
  })
  return readTaken(taken, now)
}

/** Returns the challenge. Throws webauthn_challenge_not_found or webauthn_challenge_expired. */
export async function consumePasskeyAuthentication(db: Db, id: string, now: Date): Promise<string> {
  return readTaken(await consumeAuthenticationChallenge(db, id), now)
}

const SessionData = Type.Object({ challenge: Type.String({ minLength: 16 }) })

function readTaken(taken: TakenChallenge | undefined, now: Date): string {
  if (!taken) throw webauthnChallengeNotFound()
  const { session_data: data, expires_at: expiresAt } = taken
  if (expiresAt <= now) throw webauthnChallengeExpired()
  if (!Value.Check(SessionData, data)) throw webauthnChallengeNotFound()
  return data.challenge
}
