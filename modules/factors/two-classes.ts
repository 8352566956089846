/**
 * Two factors must be of different classes (NIST SP 800-63B). A code by SMS after another one, or a security key after
 * a passkey, which may be the same device, counts as one factor.
 */
import type { Db } from '../../db/core/database.ts'
import type { FactorType } from '../../db/tables/factors.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { insufficientAal } from '../../schemas/errors.ts'
import { findVerifiedMethods } from '../access/index.ts'

const sameClass = {
  phone: 'This session was created with a code sent to a phone: verify a factor of another type',
  webauthn: 'This session was created with a passkey: verify a factor of another type',
}

/** Throws insufficient_aal for a factor of the only class that authenticated the session. */
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
