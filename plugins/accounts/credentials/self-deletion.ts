/** Who may delete their own account: whoever shows once more, and not long ago, that it is theirs. */
import type { Db } from '../../../db/database.ts'
import {
  currentPasswordInvalid,
  insufficientAal,
  reauthenticationNeeded,
  ssoManaged,
} from '../../../errors.ts'
import type { Bearer } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { isCurrentPassword } from './password-change.ts'
import { proveNonce } from './reauthentication.ts'

export interface DeletionProof {
  /** The code of GET /reauthenticate. */
  nonce?: string
  password?: string
}

/** A sign-in or a second factor this young needs no further proof. */
const freshProofMs = 10 * 60 * 1000

/**
 * Throws user_sso_managed, insufficient_aal or reauthentication_needed, and for what is shown reauthentication_not_valid,
 * otp_expired, current_password_invalid or over_request_rate_limit. A right nonce is spent by this.
 */
export async function checkDeletion(
  house: House<'bearerAuth' | 'otp' | 'passwords'>,
  db: Db,
  bearer: Bearer,
  { nonce, password }: DeletionProof,
  now: Date,
): Promise<void> {
  checkDeletable(house, bearer, now)
  const { user } = bearer
  // Somebody anonymous has nothing to show but the session.
  if (user.is_anonymous || isFresh(bearer, now)) return
  if (nonce) return proveNonce(house, db, user, nonce, now)
  if (!password) throw reauthenticationNeeded(needed)
  if (!(await isCurrentPassword(house, db, user, password, now))) throw currentPasswordInvalid()
}

const needed =
  'Deleting the account needs a sign-in of the last ten minutes, the password, or a nonce from GET /reauthenticate'

/** What has to be so until the very end. Throws user_sso_managed or insufficient_aal. */
export function checkDeletable(
  { bearerAuth }: House<'bearerAuth'>,
  { user, session }: Bearer,
  now: Date,
): void {
  if (user.is_sso_user) throw ssoManaged('An SSO account is deleted where it is managed')
  if (bearerAuth.isConfirmed({ user, session }, now)) return
  throw insufficientAal('AAL2 session is required to delete the account.')
}

function isFresh({ session }: Bearer, now: Date): boolean {
  const proofs = (session?.amr ?? []).filter(({ method }) => method !== 'anonymous')
  return proofs.some(({ timestamp }) => now.getTime() - timestamp * 1000 < freshProofMs)
}
