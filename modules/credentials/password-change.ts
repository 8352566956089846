/** Password changes: authorization, and what the change revokes. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { deleteKnownDevices } from '../../db/sessions/devices.ts'
import type { SessionProof } from '../../db/sessions/session-proofs.ts'
import { tokenTypes } from '../../db/tables/users.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { updateUser, withoutSentTokens } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import {
  currentPasswordInvalid,
  currentPasswordRequired,
  reauthenticationNeeded,
  samePassword,
} from '../../schemas/errors.ts'
import {
  createPasswordAttempt,
  type EstablishedProof,
  establishedProofs,
  isFresh,
  loadProof,
  recordAccess,
  recordReauthentication,
  requireFreshProof,
  verifyReauthenticationNonce,
} from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import { deviceHash, throttleAttempt } from '../otp/index.ts'
import type { Attempt } from '../otp/limits/throttle.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { addEmailIdentity } from '../users/index.ts'

interface PasswordChange {
  password: string
  nonce: string | undefined
  currentPassword: string | undefined
}

/** A session this recent needs no reauthentication. */
const freshSessionMs = 24 * 60 * 60 * 1000

/** Users who signed in by these methods may not know their password. */
const passwordless = ['otp', 'magiclink', 'recovery']

/** A checked change. */
interface CheckedChange {
  /** The verification of the current password, an attempt that succeeds with the change. */
  attempt: Attempt | undefined
  /** No earlier method authorized the change. */
  isNewMethod: boolean
}

/** The rules for a password change of a signed-in user. Throws the error of each rule, and over_request_rate_limit. */
export async function checkPasswordChange(
  app: FastifyInstance,
  db: Db,
  auth: AuthContext,
  change: PasswordChange,
  now: Date,
): Promise<CheckedChange> {
  const proof = await loadProof(db, auth, now)
  const proofs = establishedProofs(auth, proof)
  const isNonceShown = await checkNonce(app, db, { auth, proofs, nonce: change.nonce }, now)
  if (isNonceShown) await recordReauthentication(db, auth, now)
  if (auth.user.encrypted_password) {
    return checkAnotherPassword(app, db, auth, { change, proof, proofs, isNonceShown }, now)
  }
  const shown = isNonceShown ? {} : { nonce: change.nonce }
  await requireFreshProof(app, db, auth, { change: 'credentials', shown }, now)
  return { attempt: undefined, isNewMethod: true }
}

interface Another {
  change: PasswordChange
  proof: SessionProof
  proofs: EstablishedProof[]
  isNonceShown: boolean
}

async function checkAnotherPassword(
  app: FastifyInstance,
  db: Db,
  auth: AuthContext,
  { change, proof, proofs, isNonceShown }: Another,
  now: Date,
): Promise<CheckedChange> {
  const { passwords } = app
  const { user } = auth
  const current = getPasswordToVerify(app, user, proofs, change.currentPassword)
  const attempt = await throttleAttempt(app, db, createPasswordAttempt(user), now)
  const matches = (password: string) =>
    attempt.check(
      db,
      () => passwords.verify(user, password),
      () => false,
    )
  if (current !== undefined && !(await matches(current))) throw currentPasswordInvalid()
  if (await matches(change.password)) throw samePassword()
  const isPasswordShown = current !== undefined && proof.added.password === undefined
  if (isPasswordShown) await recordReauthentication(db, auth, now)
  const isShown = isNonceShown || isPasswordShown
  return { attempt, isNewMethod: !isShown && !isFresh(app, auth, proof, 'credentials', now) }
}

interface NonceCheck {
  auth: AuthContext
  proofs: EstablishedProof[]
  nonce: string | undefined
}

/**
 * Returns true when a required nonce was correct. Throws reauthentication_needed, and the errors of
 * verifyReauthenticationNonce.
 */
async function checkNonce(
  app: FastifyInstance,
  db: Db,
  { auth: { user, session }, proofs, nonce }: NonceCheck,
  now: Date,
): Promise<boolean> {
  const isRequired = app.config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION
  const openedAt = session?.session_created_at?.getTime() ?? 0
  const isRecent = now.getTime() - openedAt < freshSessionMs
  if (!isRequired || (isRecent && proofs.length > 0)) return false
  if (!nonce) throw reauthenticationNeeded('Password update requires reauthentication')
  await verifyReauthenticationNonce(app, db, user, nonce, now)
  return true
}

/** The current password to verify; undefined where it is not required. Throws current_password_required. */
function getPasswordToVerify(
  { config, passwords }: FastifyInstance,
  { encrypted_password: hash }: UserRecord,
  proofs: NonceCheck['proofs'],
  current: string | undefined,
): string | undefined {
  const isRequired = config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD
  const cameWithout = proofs.some(({ name }) => passwordless.includes(name))
  if (!isRequired || !hash || cameWithout) return undefined
  if (!current) throw currentPasswordRequired()
  passwords.checkLength(current)
  return current
}

interface NewPassword {
  hash: string
  /** The hash that the change was checked against. */
  replaces: string | null
  keepSession: string | undefined
  /** No earlier method authorized the change. */
  isNewMethod: boolean
  /** The client that sets it. */
  clientInfo: ClientInfo
}

/**
 * Stores the hash, deletes pending links, codes, flows and identifier changes, revokes all other sessions and forgets
 * other devices. Throws current_password_invalid when the password was changed since the check.
 */
export async function setPassword(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { hash, replaces, keepSession, isNewMethod, clientInfo }: NewPassword,
  { ip, now }: AuditContext,
): Promise<void> {
  if (user.encrypted_password !== replaces) throw currentPasswordInvalid()
  await updateUser(trx, user.id, { encrypted_password: hash, ...withoutSentTokens }, now)
  if (!replaces) await addEmailIdentity(app, trx, user.id, now)
  // Pending sign-ups stay: before the identifier is verified, another user may have set the password.
  await deleteTokens(trx, user.id, tokenTypes)
  await revokeAllSessions(app, trx, user.id, { except: keepSession }, now)
  await deleteKnownDevices(trx, user.id, deviceHash(app, clientInfo))
  const access = { user, grant: { kind: 'password', ip }, isEstablished: !isNewMethod } as const
  await recordAccess(app, trx, access, now)
}
