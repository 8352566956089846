/** Deletion of the user's own account, after a recent authentication. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import {
  currentPasswordInvalid,
  insufficientAal,
  reauthenticationNeeded,
  ssoManaged,
} from '../../schemas/errors.ts'
import {
  establishedProofs,
  hasRecentProof,
  isCurrentPassword,
  loadProof,
  verifyReauthenticationNonce,
} from '../access/index.ts'

interface DeletionAuthorization {
  /** The code of GET /reauthenticate. */
  nonce?: string
  password?: string
}

/** A sign-in or second factor this recent is sufficient. */
const freshForSeconds = 10 * 60

/**
 * Throws user_sso_managed, insufficient_aal or reauthentication_needed, and for the presented secret
 * reauthentication_not_valid, otp_expired, current_password_invalid or over_request_rate_limit. Consumes a valid nonce.
 */
export async function checkDeletion(
  app: FastifyInstance,
  db: Db,
  auth: AuthContext,
  { nonce, password }: DeletionAuthorization,
  now: Date,
): Promise<void> {
  checkDeletable(app, auth, now)
  const { user } = auth
  // An anonymous user has no credentials besides the session.
  if (user.is_anonymous) return
  const sessionProof = await loadProof(db, auth, now)
  const proofs = establishedProofs(auth, sessionProof).filter(
    ({ method }) => method !== 'anonymous',
  )
  if (hasRecentProof(proofs, sessionProof, freshForSeconds, now)) return
  if (nonce) return verifyReauthenticationNonce(app, db, user, nonce, now)
  if (!password) throw reauthenticationNeeded(needed)
  if (!(await isCurrentPassword(app, db, user, password, now))) throw currentPasswordInvalid()
}

const needed =
  'Deleting the account requires a sign-in within the last ten minutes, the password, or a nonce from GET /reauthenticate'

/** Conditions that must still hold inside the transaction. Throws user_sso_managed or insufficient_aal. */
export function checkDeletable(
  { bearerAuth }: FastifyInstance,
  { user, session }: AuthContext,
  now: Date,
): void {
  if (user.is_sso_user) throw ssoManaged('An SSO account is deleted by its identity provider')
  if (bearerAuth.isConfirmed({ user, session }, now)) return
  throw insufficientAal('AAL2 session is required to delete the account')
}
