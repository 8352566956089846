/** Who may give access: checked before the transaction that gives it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { SessionProof } from '../../db/sessions/session-proofs.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import { isImpersonated } from '../../schemas/access-token.ts'
import {
  type ApiError,
  currentPasswordInvalid,
  insufficientAal,
  isErrorWithCode,
  noAuthorization,
  reauthenticationNeeded,
  sessionImpersonated,
} from '../../schemas/errors.ts'
import { throttleAttempt } from '../otp/index.ts'
import { verifyReauthenticationNonce } from './reauthentication.ts'
import {
  establishedProofs,
  hasRecentProof,
  loadProof,
  recordReauthentication,
} from './session-proofs.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True for a route of admins or organizations that gives access to an account, an organization or the server: the
     * acting user needs a fresh proof and may not be impersonated (`requireAccessProof`).
     */
    givesAccess?: true
  }
}

/**
 * The acting user gives access: never while impersonating, and with a fresh proof. A token of a service has no session
 * and needs none. Throws session_impersonated, insufficient_aal, reauthentication_needed and, for an admin who has
 * signed out, the errors of `authenticate`.
 */
export async function authorizeAccess(
  app: FastifyInstance,
  { auth, admin }: Pick<FastifyRequest, 'auth' | 'admin'>,
  now: Date,
): Promise<void> {
  if (auth) return requireProof(app, auth, now)
  if (!admin) throw noAuthorization()
  const acting = await app.bearerAuth.findActingUser(admin, now)
  if (acting) await requireProof(app, acting, now)
}

async function requireProof(app: FastifyInstance, auth: AuthContext, now: Date): Promise<void> {
  if (isImpersonated(auth.claims)) throw sessionImpersonated()
  await requireFreshProof(app, app.db, auth, { change: 'access' }, now)
}

const missingProofs = [
  'reauthentication_needed',
  'insufficient_aal',
  'session_impersonated',
] as const

/** Whether `authorizeAccess` would permit the acting user to give access now. */
export async function hasAccessProof(
  app: FastifyInstance,
  request: Pick<FastifyRequest, 'auth' | 'admin'>,
  now: Date,
): Promise<boolean> {
  try {
    await authorizeAccess(app, request, now)
    return true
  } catch (error) {
    if (isErrorWithCode(error, ...missingProofs)) return false
    throw error
  }
}

/** preHandler: `authorizeAccess` for routes with `givesAccess`, after the guard of the group. */
export const requireAccessProof =
  (app: FastifyInstance) =>
  async (request: FastifyRequest): Promise<void> => {
    if (request.routeOptions.config.givesAccess) await authorizeAccess(app, request, new Date())
  }

// Verification of the current password.

/** Has its own counter: failed sign-ins of unauthenticated clients must not lock the user out here. */
export const createPasswordAttempt = ({ id }: UserRecord) =>
  ({ kind: 'password', account: `current password of ${id}` }) as const

/** Verifies the password. Counted as an attempt, together with those of password changes. */
export async function isCurrentPassword(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  password: string,
  now: Date,
): Promise<boolean> {
  app.passwords.checkLength(password)
  const attempt = await throttleAttempt(app, db, createPasswordAttempt(user), now)
  return attempt.check(db, () => app.passwords.verify(user, password), Boolean)
}

// The rule for adding or changing a sign-in method: phone, email, first password, factor, passkey, identity. An access
// token alone does not authorize it: the session needs a recent authentication by a method that the account had before
// (docs/decisions/2026-11-25-fresh-proof.md).

/** The changed method, access given to others, or all data of the account; each has its own error below aal2. */
export type MethodChange = 'credentials' | 'factor' | 'passkey' | 'identity' | 'access' | 'export'

/** Secrets in the request itself. */
interface PresentedSecret {
  /** The code of GET /reauthenticate. */
  nonce?: string | undefined
  currentPassword?: string | undefined
}

const belowAal2: Record<MethodChange, () => ApiError> = {
  credentials: () =>
    insufficientAal('AAL2 session is required to update email or password when MFA is enabled.'),
  factor: () => insufficientAal('AAL2 required to enroll a new factor', 403),
  passkey: () => insufficientAal('AAL2 required to register a passkey', 403),
  identity: () => insufficientAal('AAL2 session is required to link or unlink an identity.'),
  access: () => insufficientAal('AAL2 session is required to give access.', 403),
  export: () => insufficientAal('AAL2 session is required to export the account.'),
}

const proofs =
  'sign in again, or send current_password or the nonce of GET /reauthenticate with PUT /user'

const needed = `Adding or changing a sign-in method requires a recent sign-in: ${proofs}`

const neededFor: Partial<Record<MethodChange, string>> = {
  access: `Giving access requires a recent sign-in: ${proofs}`,
  export: `Exporting the account requires a recent sign-in: ${proofs}`,
}

/** Throws insufficient_aal for a user with a verified factor that this session has not verified, or not recently. */
export function requireVerifiedFactor(
  { bearerAuth }: FastifyInstance,
  { user, session }: Pick<AuthContext, 'user' | 'session'>,
  change: MethodChange,
  now: Date,
): void {
  if (!bearerAuth.isConfirmed({ user, session }, now)) throw belowAal2[change]()
}

/**
 * Throws insufficient_aal and reauthentication_needed, and for the presented secret reauthentication_not_valid,
 * otp_expired, current_password_invalid or over_request_rate_limit.
 */
export async function requireFreshProof(
  app: FastifyInstance,
  db: Db,
  auth: AuthContext,
  { change, shown = {} }: { change: MethodChange; shown?: PresentedSecret },
  now: Date,
): Promise<void> {
  requireVerifiedFactor(app, auth, change, now)
  // An anonymous user has no credentials besides the session.
  if (auth.user.is_anonymous) return
  if (isFresh(app, auth, await loadProof(db, auth, now), change, now)) return
  if (await reauthenticate(app, db, auth, shown, now)) return
  throw reauthenticationNeeded(neededFor[change] ?? needed)
}

/** Whether the session has an authentication within AUTH_SECURITY_FRESH_PROOF_MAX_AGE that counts for this change. */
export function isFresh(
  { config }: FastifyInstance,
  auth: AuthContext,
  sessionProof: SessionProof,
  change: MethodChange,
  now: Date,
): boolean {
  // An email change requires the current password where a password change does: it would be a bypass otherwise.
  const isStrict =
    config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD &&
    change === 'credentials' &&
    Boolean(auth.user.encrypted_password)
  const proofs = establishedProofs(auth, sessionProof).filter(
    ({ method }) => !isStrict || ['email', 'phone', 'factor'].includes(method),
  )
  return hasRecentProof(proofs, sessionProof, config.AUTH_SECURITY_FRESH_PROOF_MAX_AGE, now)
}

/**
 * Verifies the presented secret and records it in the session. Returns false when no accepted secret was presented.
 * Throws reauthentication_not_valid, otp_expired, current_password_invalid or over_request_rate_limit.
 */
export async function reauthenticate(
  app: FastifyInstance,
  db: Db,
  auth: AuthContext,
  { nonce, currentPassword }: PresentedSecret,
  now: Date,
): Promise<boolean> {
  const { user } = auth
  if (nonce) {
    await verifyReauthenticationNonce(app, db, user, nonce, now)
  } else {
    if (!currentPassword) return false
    if (!(await isCurrentPassword(app, db, user, currentPassword, now))) {
      throw currentPasswordInvalid()
    }
    const { added } = await loadProof(db, auth, now)
    if (added.password !== undefined) return false
  }
  await recordReauthentication(db, auth, now)
  return true
}
