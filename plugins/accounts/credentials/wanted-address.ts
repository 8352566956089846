/** Somebody who asks for another address: who is told that it has an owner. */
import type { Db } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { ApiError } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

export interface WantedAddress {
  isTaken: boolean
  /** Thrown at those who are told of it. */
  refusal: ApiError
  /** No message goes to the address: what the answer is, everybody sees at once. */
  appliesAtOnce: boolean
}

/**
 * The gate before an answer that may show whose an address is: each refusal stays counted as a guess. True when the
 * address is free. False when its owner must hear nothing and whoever asks must not notice, as anybody can be an
 * anonymous person; registered people are told by the refusal. To be called after the wait between two messages was
 * claimed, or a taken address would cost none. Throws over_request_rate_limit and the refusal.
 */
export async function gateWantedAddress(
  { otp }: House<'otp'>,
  db: Db,
  user: UserRecord,
  { isTaken, refusal, appliesAtOnce }: WantedAddress,
  now: Date,
): Promise<boolean> {
  const guess = { kind: 'password', account: `addresses wanted by ${user.id}` } as const
  const attempt = await otp.gate(db, guess, now)
  if (isTaken && (appliesAtOnce || !user.is_anonymous)) throw refusal
  await attempt.succeeded(db)
  return !isTaken
}
