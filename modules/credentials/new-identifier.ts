/**
 * A requested new identifier: who learns that it has an owner, and what survives when several accounts requested it.
 */
import type { Db, Trx } from '../../db/core/database.ts'
import { isRequestedByOthers } from '../../db/tokens/email-changes.ts'
import type { TokenType } from '../../db/tokens/one-time-tokens.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ApiError } from '../../schemas/errors.ts'
import { throttleAttempt } from '../otp/index.ts'
import { clearUnverifiedCredentials } from '../users/index.ts'

export interface NewIdentifier {
  isTaken: boolean
  /** Thrown to users who may learn that it is taken. */
  takenError: ApiError
  /** No message is sent to it: the response shows at once whether it is taken. */
  needsNoConfirmation: boolean
}

/**
 * Throttles requests whose response may show whether an identifier is taken: each rejection stays counted as an
 * attempt. Returns true when it is free. Returns false when its owner must not be notified and the requester must not
 * notice, as anonymous accounts are open to anyone; registered users get the rejection. A rejection costs no minimum
 * interval. Throws over_request_rate_limit and the rejection.
 */
export async function throttleNewIdentifier(
  { otp }: Deps<'otp'>,
  db: Db,
  user: UserRecord,
  { isTaken, takenError, needsNoConfirmation }: NewIdentifier,
  now: Date,
): Promise<boolean> {
  const target = { kind: 'password', account: `addresses wanted by ${user.id}` } as const
  const attempt = await throttleAttempt(otp, db, target, now)
  if (isTaken && (needsNoConfirmation || !user.is_anonymous)) throw takenError
  await attempt.succeeded(db)
  return !isTaken
}

interface VerifiedIdentifier {
  provider: 'email' | 'phone'
  address: string
  /** The type of the tokens that verify the identifier. */
  type: TokenType
}

/**
 * Several accounts requested the identifier, so that the user who confirmed it may not be the one who created this
 * account: an anonymous account, which has no other credential, loses its earlier password, sessions and factors.
 */
export async function clearContestedAccount(
  { users }: Deps<'users'>,
  trx: Trx,
  user: UserRecord,
  { provider, address, type }: VerifiedIdentifier,
  now: Date,
): Promise<void> {
  if (!user.is_anonymous || !(await isRequestedByOthers(trx, user.id, address, type))) return
  await clearUnverifiedCredentials(
    users,
    trx,
    user,
    { keepIdentity: { provider }, passwordHash: null },
    now,
  )
}
