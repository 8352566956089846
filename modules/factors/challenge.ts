/** Creates the challenge that a factor verification must name. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { isForeignKeyViolation } from '../../db/core/errors.ts'
import { insertChallenge } from '../../db/factors/challenges.ts'
import { type FactorRecord, findFactor, findWebauthnFactors } from '../../db/factors/factors.ts'
import type { ChallengeableFactorType, FactorType } from '../../db/tables/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  insufficientAal,
  mfaFactorNotFound,
  sessionNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import { findVerifiedMethods } from '../access/index.ts'
import { createAuditEntry } from '../audit/index.ts'
import type { Ceremonies } from '../passkeys/webauthn/ceremonies.ts'
import { requireVerify } from './factor-types.ts'
import { sendCode } from './phone.ts'
import { credentialId, getFactorCredential } from './webauthn.ts'

/** A factor that is verified by a challenge. */
export interface ChallengeableFactor extends FactorRecord {
  factor_type: ChallengeableFactorType
}

/**
 * Returns a factor of the user. Throws mfa_factor_not_found, also for an unverified one of another session, and
 * validation_failed for recovery codes, which have no challenge.
 */
export async function findOwnFactor(
  db: Db,
  { user, session }: SessionAuth,
  id: string,
): Promise<ChallengeableFactor> {
  const factor = await findFactor(db, user.id, id)
  const isOfOtherSession = factor?.enrolled_in && factor.enrolled_in !== session.session_id
  if (!factor || (factor.status === 'unverified' && isOfOtherSession)) throw mfaFactorNotFound()
  const { factor_type } = factor
  if (factor_type === 'recovery_code') {
    throw validationFailed('Verify recovery codes with POST /factors/recovery-codes/verify')
  }
  return { ...factor, factor_type }
}

/**
 * Creates a challenge, and sends the code of a phone factor. Throws mfa_factor_not_found, mfa_..._verify_not_enabled,
 * insufficient_aal for a factor of the class that authenticated the session, validation_failed for a channel,
 * over_sms_send_rate_limit, sms_send_failed, unexpected_failure, or session_not_found when the session has ended.
 */
export async function challengeFactor(
  app: FastifyInstance,
  db: Db,
  auth: SessionAuth,
  input: { factorId: string; channel: string | undefined; ip: string },
  now: Date,
) {
  const factor = await findOwnFactor(db, auth, input.factorId)
  const { id: factorId, factor_type: type } = factor
  requireVerify(app, type)
  await requireAnotherClass(db, auth, type, now)
  const id = crypto.randomUUID()
  const { code, webauthn } = await prepare(app, db, auth, factor, { ...input, id }, now)
  const made = {
    id,
    factorId,
    userId: auth.user.id,
    sessionId: auth.session.session_id,
    ip: input.ip,
    code,
    ...(webauthn && {
      ceremony: webauthn.type,
      challenge: webauthn.publicKey.challenge,
      sessionData: createSessionData(app, auth.user.id, webauthn, now),
    }),
  }
  const traits = { factor_id: factorId, challenge_id: id, factor_type: type }
  const entry = createAuditEntry(app.audit, 'challenge_created', auth.user, input.ip, traits)
  const isMade = await insertChallenge(db, made, entry, now).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  if (!isMade) throw mfaFactorNotFound()
  const expiry = now.getTime() / 1000 + app.config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION
  return {
    id,
    type,
    expires_at: Math.floor(expiry),
    ...(webauthn && {
      webauthn: {
        type: webauthn.type,
        credential_options: { publicKey: { ...webauthn.publicKey } },
      },
    }),
  }
}

/** The content of the challenge: an SMS code, or WebAuthn options. */
async function prepare(
  app: FastifyInstance,
  db: Db,
  { user }: SessionAuth,
  factor: ChallengeableFactor,
  { id, channel }: { id: string; channel: string | undefined },
  now: Date,
) {
  if (factor.factor_type === 'webauthn') {
    const verified = await findWebauthnFactors(db, user.id)
    return { code: '', webauthn: await ceremonyFor(app, user, factor, verified) }
  }
  if (factor.factor_type === 'totp') return { code: '', webauthn: undefined }
  const way = { challengeId: id, channel: app.sms.parseChannel(channel) }
  return { code: await sendCode(app, db, { factor, user }, way, now), webauthn: undefined }
}

// WebAuthn options of a security key factor (WebAuthn Level 3 §5.4 and §5.5).

/** Transports of existing keys, as in GoTrue. */
const roaming = ['usb', 'nfc'] as const

type Ceremony =
  | { type: 'create'; publicKey: Awaited<ReturnType<Ceremonies['keyCreation']>> }
  | { type: 'request'; publicKey: Awaited<ReturnType<Ceremonies['keyRequest']>> }

/** Creation options for an unverified factor, otherwise request options for any key of the user. */
async function ceremonyFor(
  { passkeys: { ceremonies } }: FastifyInstance,
  user: UserRecord,
  factor: FactorRecord,
  verified: readonly FactorRecord[],
): Promise<Ceremony> {
  const known = verified.flatMap((one) => getFactorCredential(one) ?? [])
  if (factor.status === 'verified') {
    const keys = known.map((credential) => ({
      id: credentialId(credential),
      ...(credential.transport && { transports: credential.transport }),
    }))
    return { type: 'request', publicKey: await ceremonies.keyRequest(keys) }
  }
  const keys = known.map((credential) => ({
    id: credentialId(credential),
    transports: [...roaming],
  }))
  return { type: 'create', publicKey: await ceremonies.keyCreation(user, keys) }
}

/** The challenge in the format of GoTrue's library, so that GoTrue can verify the response. */
function createSessionData(
  { config, passkeys: { ceremonies } }: FastifyInstance,
  userId: string,
  { type, publicKey }: Ceremony,
  now: Date,
): object {
  const expiry = now.getTime() + config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION * 1000
  const allowed = type === 'request' ? (publicKey.allowCredentials ?? []) : []
  return {
    challenge: publicKey.challenge,
    rpId: config.AUTH_WEBAUTHN_RP_ID,
    user_id: ceremonies.userHandle(userId).toString('base64'),
    ...(type === 'request' && {
      allowed_credentials: allowed.map(({ id }) => Buffer.from(id, 'base64url').toString('base64')),
    }),
    ...(type === 'create' && { credParams: publicKey.pubKeyCredParams }),
    expires: new Date(expiry),
    userVerification: 'preferred',
  }
}

const sameClass = {
  phone: 'This session was created with a code sent to a phone: verify a factor of another type',
  webauthn: 'This session was created with a passkey: verify a factor of another type',
}

/**
 * Two factors must be of different classes (NIST SP 800-63B). A code by SMS after another one, or a security key after
 * a passkey, which may be the same device, counts as one factor. Throws insufficient_aal for a factor of the only class
 * that authenticated the session.
 */
export async function requireAnotherClass(
  db: Db,
  auth: SessionAuth,
  type: FactorType,
  now: Date,
): Promise<void> {
  if (type !== 'phone' && type !== 'webauthn') return
  const methods = await findVerifiedMethods(db, auth, now)
  const first = type === 'phone' ? 'phone' : 'passkey'
  if (methods.length > 0 && methods.every((method) => method === first)) {
    throw insufficientAal(sameClass[type], 403)
  }
}
