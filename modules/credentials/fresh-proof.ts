/**
 * The rule for adding or changing a sign-in method: phone, email, first password, factor, passkey, identity. An access
 * token alone does not authorize it: the session needs a recent authentication by a method that the account had before
 * (docs/decisions/2026-11-25-fresh-proof.md).
 */
import type { Db } from '../../db/core/database.ts'
import type { SessionProof } from '../../db/sessions/session-proofs.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import {
  type ApiError,
  currentPasswordInvalid,
  insufficientAal,
  reauthenticationNeeded,
} from '../../schemas/errors.ts'
import { isCurrentPassword } from './current-password.ts'
import { verifyReauthenticationNonce } from './reauthentication.ts'
import {
  establishedProofs,
  hasRecentProof,
  loadProof,
  recordReauthentication,
} from './session-proofs.ts'

/** The changed method; each has its own error below aal2. */
export type MethodChange = 'credentials' | 'factor' | 'passkey' | 'identity'

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
}

const needed =
  'Adding or changing a sign-in method requires a recent sign-in: sign in again, or send current_password or the nonce of GET /reauthenticate with PUT /user'

type ProofDeps = Deps<'bearerAuth' | 'config' | 'otp' | 'passwords'>

/** Throws insufficient_aal for a user with a verified factor that this session has not verified, or not recently. */
export function requireVerifiedFactor(
  { bearerAuth }: Deps<'bearerAuth'>,
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
  deps: ProofDeps,
  db: Db,
  auth: AuthContext,
  { change, shown = {} }: { change: MethodChange; shown?: PresentedSecret },
  now: Date,
): Promise<void> {
  requireVerifiedFactor(deps, auth, change, now)
  // An anonymous user has no credentials besides the session.
  if (auth.user.is_anonymous) return
  if (isFresh(deps, auth, await loadProof(db, auth, now), change, now)) return
  if (await reauthenticate(deps, db, auth, shown, now)) return
  throw reauthenticationNeeded(needed)
}

/** Whether the session has an authentication within AUTH_SECURITY_FRESH_PROOF_MAX_AGE that counts for this change. */
export function isFresh(
  { config }: Deps<'config'>,
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
  deps: Deps<'otp' | 'passwords'>,
  db: Db,
  auth: AuthContext,
  { nonce, currentPassword }: PresentedSecret,
  now: Date,
): Promise<boolean> {
  const { user } = auth
  if (nonce) {
    await verifyReauthenticationNonce(deps, db, user, nonce, now)
  } else {
    if (!currentPassword) return false
    if (!(await isCurrentPassword(deps, db, user, currentPassword, now))) {
      throw currentPasswordInvalid()
    }
    const { added } = await loadProof(db, auth, now)
    if (added.password !== undefined) return false
  }
  await recordReauthentication(db, auth, now)
  return true
}
