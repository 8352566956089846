/** Sign-in with a passkey. All rejections before the signature is verified are the same. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { isForeignKeyViolation } from '../../db/core/errors.ts'
import {
  type ChallengeRequester,
  consumeAuthenticationChallenge,
  consumeRegistrationChallenge,
  insertPasskeyChallenge,
  type TakenChallenge,
} from '../../db/passkeys/challenges.ts'
import {
  findPasskeyCredential,
  findPasskeys,
  type PasskeyCredential,
  updatePasskeySignCount,
} from '../../db/passkeys/credentials.ts'
import { isBanned, type UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  emailNotConfirmed,
  phoneNotConfirmed,
  sessionNotFound,
  userBanned,
  webauthnChallengeExpired,
  webauthnChallengeNotFound,
  webauthnVerificationFailed,
} from '../../schemas/errors.ts'
import { requireFreshProof } from '../access/index.ts'
import { type AuditContext, createAuditEntry, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import type { CreatedSession } from '../sessions/create.ts'
import { createSession } from '../sessions/index.ts'
import { lockAndLoadUser } from '../users/index.ts'
import { checkCanAddPasskey, checkPasskeyLimit } from './register.ts'
import type { Ceremonies } from './webauthn/ceremonies.ts'
import type { AuthenticatorData } from './webauthn/verify-response.ts'

// WebAuthn challenges of passkeys. Each belongs to one ceremony, and a registration also to one session. It is consumed
// before verification, so that there is one attempt.

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

/**
 * Throws validation_failed, insufficient_aal, reauthentication_needed, too_many_passkeys, unexpected_failure, or
 * session_not_found when the session has ended.
 */
export async function createPasskeyRegistration(
  app: FastifyInstance,
  db: Db,
  auth: SessionAuth,
  now: Date,
): Promise<PasskeyChallengeInput> {
  checkCanAddPasskey(app, auth, now)
  await requireFreshProof(app, db, auth, { change: 'passkey' }, now)
  const { user, session } = auth
  const known = await findPasskeys(db, user.id)
  checkPasskeyLimit(app, known.length)
  const keys = known.map(({ credential_id }) => ({ id: credential_id.toString('base64url') }))
  const options = await app.passkeys.ceremonies.passkeyCreation(user, keys)
  const algorithms = options.pubKeyCredParams
  const requester = { userId: user.id, sessionId: session.session_id }
  const handle = app.passkeys.ceremonies.userHandle(user.id).toString('base64')
  const challenge = { options, stored: { user_id: handle, credParams: algorithms }, requester }
  const work = async (trx: Trx) => {
    // The user is locked before the session, as in a deletion, to prevent deadlocks.
    await app.bearerAuth.reauthorizeSession(trx, auth, now)
    return createChallenge(app, trx, challenge, now)
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
  app: FastifyInstance,
  db: Db,
  now: Date,
): Promise<PasskeyChallengeInput> {
  const options = await app.passkeys.ceremonies.passkeyRequest()
  return createChallenge(app, db, { options, stored: { user_id: null } }, now)
}

interface NewChallenge {
  options: Options
  stored: object
  requester?: ChallengeRequester
}

async function createChallenge(
  { config }: FastifyInstance,
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
  { bearerAuth }: FastifyInstance,
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

/** The passkey and its authenticator data. */
interface PasskeyAssertionResult {
  passkey: PasskeyCredential
  facts: AuthenticatorData
}

/** A rejection that writes something is returned, not thrown, so that it is committed. */
type PasskeySignInOutcome = { state: 'opened'; opened: CreatedSession } | { state: 'cloned' }

/** The claimed credential; unverified. */
const Claims = Type.Object({
  id: Type.String({ minLength: 1 }),
  response: Type.Object({ userHandle: Type.String({ minLength: 1 }) }),
})

/** Throws webauthn_verification_failed. */
export async function verifyPasskeyResponse(
  { passkeys: { ceremonies } }: FastifyInstance,
  db: Db,
  response: unknown,
  challenge: string,
): Promise<PasskeyAssertionResult> {
  if (!Value.Check(Claims, response)) throw webauthnVerificationFailed()
  const passkey = await findPasskeyCredential(db, Buffer.from(response.id, 'base64url'))
  const handle = Buffer.from(response.response.userHandle, 'base64url')
  if (!passkey || !handle.equals(ceremonies.userHandle(passkey.user_id))) {
    throw webauthnVerificationFailed()
  }
  const { credential_id: id, public_key: publicKey, backup_eligible: backupEligible } = passkey
  const facts = await ceremonies
    .verifyAssertion(response, challenge, { id, publicKey, backupEligible })
    .catch((error) => {
      throw webauthnVerificationFailed(error)
    })
  return { passkey, facts }
}

/**
 * Creates the session. Throws webauthn_verification_failed, email_not_confirmed, phone_not_confirmed or user_banned.
 */
export async function completePasskeySignIn(
  app: FastifyInstance,
  trx: Trx,
  { passkey, facts }: PasskeyAssertionResult,
  { ip, clientInfo }: { ip: string; clientInfo: ClientInfo },
  now: Date,
): Promise<PasskeySignInOutcome> {
  const { audit, config } = app
  const user = await lockAndLoadUser(trx, passkey.user_id)
  if (!user || user.deleted_at) throw webauthnVerificationFailed()
  checkState(app, user, now)
  const advance = await updatePasskeySignCount(trx, passkey.id, facts, now)
  if (advance === 'gone') throw webauthnVerificationFailed()
  if (advance === 'counter_went_back') {
    await reportClone(app, trx, user, passkey, { ip, now })
    return { state: 'cloned' }
  }
  const entry = createAuditEntry(audit, 'login', user, ip, {
    provider: 'passkey',
    passkey_id: passkey.id,
  })
  const aal = config.AUTH_PASSKEY_AAL2 && facts.userVerified ? 'aal2' : 'aal1'
  const assertion = { method: 'passkey', aal, clientInfo, audit: entry } as const
  return { state: 'opened', opened: await createSession(app, trx, user, assertion, now) }
}

function checkState({ config }: FastifyInstance, user: UserRecord, now: Date): void {
  const needsProof = !config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS
  if (user.email && !user.email_confirmed_at && needsProof) throw emailNotConfirmed(undefined, 403)
  if (user.phone && !user.phone_confirmed_at) throw phoneNotConfirmed(undefined, 403)
  if (isBanned(user, now)) throw userBanned(403)
}

/** A decreased signature counter means a cloned authenticator: it is rejected, recorded, and the user is notified. */
async function reportClone(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { id }: PasskeyCredential,
  { ip, now }: AuditContext,
): Promise<void> {
  app.log.warn({ passkey_id: id }, 'passkey rejected: its signature counter decreased')
  const traits = { passkey_id: id, reason: 'cloned' }
  await recordAudit(app.audit, trx, 'passkey_refused', user, { ip, now, traits })
  await notifyUser(app, trx, user, { kind: 'security_key_refused_notification' }, now)
}
