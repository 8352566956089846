/** Why no session was opened for a proof that had just been accepted. */
import type { Db } from '../../../db/database.ts'
import { findUser, isBanned } from '../../../db/users.ts'
import {
  type ApiError,
  flowStateNotFound,
  invalidCredentials,
  otpExpired,
  userBanned,
  userNotFound,
} from '../../../errors.ts'
import type { AuthenticationMethod, SignInProof } from './draft.ts'

/** Each as if the proof had been shown after the change that it lost to. */
const refusals: Partial<Record<AuthenticationMethod, () => ApiError>> = {
  password: invalidCredentials,
  otp: otpExpired,
  // By these the code of a flow was exchanged.
  recovery: flowStateNotFound,
  magiclink: flowStateNotFound,
  'email/signup': flowStateNotFound,
  email_change: flowStateNotFound,
}

/** user_banned where the proof is still right but for the ban, else the refusal of the method. */
export async function findStaleness(
  db: Db,
  userId: string,
  { method, passwordHash }: Pick<SignInProof, 'method' | 'passwordHash'>,
  now: Date,
): Promise<ApiError> {
  const user = await findUser(db, userId)
  const isRight = method !== 'password' || user?.encrypted_password === passwordHash
  const isBannedOnly = user && !user.deleted_at && isBanned(user, now) && isRight
  if (isBannedOnly) return userBanned(method === 'password' ? 400 : 403)
  return refusals[method]?.() ?? userNotFound()
}
