import { findUserByAnyEmail, findUserByPhone } from '../../../db/users/users.ts'
import { type Attempt, throttleAttempt } from '../../../modules/otp/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import { ApiError, otpDisabled } from '../../../schemas/errors.ts'

/** An identifier in its stored form. */
type Identifier = { email: string } | { phone: string }

/**
 * For AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR, where `create_user: false` responds as GoTrue. Throws otp_disabled for an
 * unknown identifier. Each such response is a failed attempt of the client's network. While that is blocked, the
 * response is the ordinary one, so that other clients of the network can still sign in.
 */
export async function checkUserExists(
  { db, otp }: Deps<'db' | 'otp'>,
  identifier: Identifier,
  { audience: aud, clientInfo }: { audience: string; clientInfo: ClientInfo },
  now: Date,
): Promise<void> {
  const account = `users looked up from ${clientInfo.network}`
  const attempt = await throttleAttempt(otp, db, { kind: 'code', account }, now).catch(
    undefinedIfThrottled,
  )
  if (!attempt) return
  const user =
    'email' in identifier
      ? await findUserByAnyEmail(db, identifier.email, aud)
      : await findUserByPhone(db, identifier.phone, aud)
  if (!user) throw otpDisabled()
  await attempt.succeeded(db)
}

function undefinedIfThrottled(error: unknown): Attempt | undefined {
  if (error instanceof ApiError && error.status === 429) return undefined
  throw error
}
