/**
 * Challenges: what a passkey has to sign. Each is for one ceremony, and a registration for the session that asked as
 * well; it is spent before anything is judged, so that there is one try.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Db, Trx } from '../../../../db/database.ts'
import { isForeignKeyViolation } from '../../../../db/foreign-key-violation.ts'
import {
  type Asker,
  insertPasskeyChallenge,
  type TakenChallenge,
  takeRegistrationChallenge,
  takeSignInChallenge,
} from '../../../../db/webauthn-challenges.ts'
import { findPasskeys } from '../../../../db/webauthn-credentials.ts'
import {
  sessionNotFound,
  webauthnChallengeExpired,
  webauthnChallengeNotFound,
} from '../../../../errors.ts'
import type { Member } from '../../../bearer-auth.ts'
import type { House } from '../../../define-plugin.ts'
import type { Ceremonies } from '../ceremonies.ts'
import { checkMayAdd, checkRoom } from './register.ts'

/** What a client is to do, and the challenge it answers with. */
export interface Question {
  challenge_id: string
  /** For `navigator.credentials`. */
  options: Record<string, unknown>
  /** Seconds since the epoch. */
  expires_at: number
}

type Options =
  | Awaited<ReturnType<Ceremonies['passkeyCreation']>>
  | Awaited<ReturnType<Ceremonies['passkeyRequest']>>

/** What a step needs that begins or judges a ceremony. */
export interface CeremonyHouse {
  ceremonies: Ceremonies
}

/**
 * Throws validation_failed, insufficient_aal, too_many_passkeys, unexpected_failure, or session_not_found when it ended
 * meanwhile.
 */
export async function askToRegister(
  house: House<'bearerAuth' | 'config'> & CeremonyHouse,
  db: Db,
  member: Member,
  now: Date,
): Promise<Question> {
  checkMayAdd(house, member, now)
  const { user, session } = member
  const known = await findPasskeys(db, user.id)
  checkRoom(house, known.length)
  const keys = known.map(({ credential_id }) => ({ id: credential_id.toString('base64url') }))
  const options = await house.ceremonies.passkeyCreation(user, keys)
  const algorithms = options.pubKeyCredParams
  const asker = { userId: user.id, sessionId: session.session_id }
  const handle = house.ceremonies.userHandle(user.id).toString('base64')
  const asked = { options, stored: { user_id: handle, credParams: algorithms }, asker }
  const work = async (trx: Trx) => {
    // Before their session, as whoever deletes the person does it: else the two would wait for each other.
    await house.bearerAuth.holdMember(trx, member, now)
    return ask(house, trx, asked, now)
  }
  return db
    .transaction()
    .execute(work)
    .catch((error) => {
      throw isForeignKeyViolation(error) ? sessionNotFound() : error
    })
}

/** Throws unexpected_failure. */
export async function askForSignIn(
  house: House<'config'> & CeremonyHouse,
  db: Db,
  now: Date,
): Promise<Question> {
  const options = await house.ceremonies.passkeyRequest()
  return ask(house, db, { options, stored: { user_id: null } }, now)
}

interface Asked {
  options: Options
  stored: object
  asker?: Asker
}

async function ask(
  { config }: House<'config'>,
  db: Db,
  { options, stored, asker }: Asked,
  now: Date,
): Promise<Question> {
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
  await insertPasskeyChallenge(db, { id, sessionData, expiresAt, ...(asker && { asker }) }, now)
  const expires_at = Math.floor(expiresAt.getTime() / 1000)
  return { challenge_id: id, options: { ...options }, expires_at }
}

/**
 * Returns what was to be signed. Throws webauthn_challenge_not_found or webauthn_challenge_expired, and what `authenticate`
 * throws.
 */
export async function spendRegistration(
  { bearerAuth }: House<'bearerAuth'>,
  db: Db,
  id: string,
  member: Member,
  now: Date,
): Promise<string> {
  const asker = { userId: member.user.id, sessionId: member.session.session_id }
  const taken = await db.transaction().execute(async (trx) => {
    await bearerAuth.holdMember(trx, member, now)
    return takeRegistrationChallenge(trx, id, asker)
  })
  return readTaken(taken, now)
}

/** Returns what was to be signed. Throws webauthn_challenge_not_found or webauthn_challenge_expired. */
export async function spendSignIn(db: Db, id: string, now: Date): Promise<string> {
  return readTaken(await takeSignInChallenge(db, id), now)
}

const SessionData = Type.Object({ challenge: Type.String({ minLength: 16 }) })

function readTaken(taken: TakenChallenge | undefined, now: Date): string {
  if (!taken) throw webauthnChallengeNotFound()
  const { session_data: data, expires_at: expiresAt } = taken
  if (expiresAt <= now) throw webauthnChallengeExpired()
  if (!Value.Check(SessionData, data)) throw webauthnChallengeNotFound()
  return data.challenge
}
