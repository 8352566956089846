/**
 * A requested new identifier: whether the requester learns that it is taken, and which credentials remain when several
 * accounts requested it.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import type { TokenType } from '../../db/tokens/one-time-tokens.ts'
import { isRequestedByOthers } from '../../db/tokens/pending-changes.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ApiError } from '../../schemas/errors.ts'
import { throttleAttempt } from '../otp/index.ts'
import { clearUnverifiedCredentials } from '../users/index.ts'

interface NewIdentifier {
  isTaken: boolean
  /** Thrown to users who may learn that it is taken. */
  takenError: ApiError
  /** No message is sent to it: the response shows immediately whether it is taken. */
  needsNoConfirmation: boolean
}

/**
 * Throttles requests whose response may show whether an identifier is taken; each rejection counts as an attempt.
 * Returns true when it is free. When it is taken, registered users get the rejection. For anonymous users the result is
 * false: anyone can create an anonymous account, so neither the requester nor the owner may notice. A rejection uses no
 * minimum interval. Throws over_request_rate_limit and `takenError`.
 */
export async function throttleNewIdentifier(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  { isTaken, takenError, needsNoConfirmation }: NewIdentifier,
  now: Date,
): Promise<boolean> {
  const target = { kind: 'password', account: `addresses wanted by ${user.id}` } as const
  const attempt = await throttleAttempt(app, db, target, now)
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
 * Clears an anonymous account whose identifier several accounts requested: the user who confirmed it may not have
 * created the account. The earlier password, sessions and factors are removed; there is no other credential.
 */
export async function clearSharedAnonymousAccount(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { provider, address, type }: VerifiedIdentifier,
  now: Date,
): Promise<void> {
  if (!user.is_anonymous || !(await isRequestedByOthers(trx, user.id, address, type))) return
  await clearUnverifiedCredentials(
    app,
    trx,
    user,
    { keepIdentity: { provider }, passwordHash: null },
    now,
  )
}
