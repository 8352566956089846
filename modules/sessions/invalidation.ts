/** Finds why an authentication became invalid before its session was created. */
import type { Db } from '../../db/core/database.ts'
import { isDeactivated } from '../../db/scim/deactivation.ts'
import type { AmrMethod } from '../../db/tables/sessions.ts'
import { findUser, isBanned } from '../../db/users/users.ts'
import {
  type ApiError,
  flowStateNotFound,
  invalidCredentials,
  otpExpired,
  userBanned,
  userDeactivated,
  userNotFound,
} from '../../schemas/errors.ts'
import type { AuthenticationEvent } from './build.ts'

/** The errors that the method returns after the change. */
const methodErrors: Partial<Record<AmrMethod, () => ApiError>> = {
  password: invalidCredentials,
  otp: otpExpired,
  // Methods of an exchanged auth code.
  recovery: flowStateNotFound,
  magiclink: flowStateNotFound,
  'email/signup': flowStateNotFound,
  email_change: flowStateNotFound,
  'sso/saml': flowStateNotFound,
}

/** Returns user_banned or user_deactivated if only that prevents the sign-in, otherwise the error of the method. */
export async function findInvalidationReason(
  db: Db,
  userId: string,
  { method, passwordHash }: Pick<AuthenticationEvent, 'method' | 'passwordHash'>,
  now: Date,
): Promise<ApiError> {
  const user = await findUser(db, userId)
  const isRight = method !== 'password' || user?.encrypted_password === passwordHash
  const status = method === 'password' ? 400 : 403
  const isKept = user && !user.deleted_at && isRight
  if (isKept && isBanned(user, now)) return userBanned(status)
  if (isKept && (await isDeactivated(db, userId))) return userDeactivated(status)
  return methodErrors[method]?.() ?? userNotFound()
}
