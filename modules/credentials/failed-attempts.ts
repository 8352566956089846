/** Notifies the owner of failed attempts: of second factors early, and when the daily limit is reached. */
import type { Db } from '../../db/core/database.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { notifyUser } from '../emails/index.ts'
import type { Attempt } from '../otp/limits/throttle.ts'

/** One or two may be typing errors; a third within a day may come from an attacker with the password. */
const notifiedFailures = 3

/** Called after a failed attempt, outside of transactions. */
export async function notifyOfFailure(
  { emails }: Deps<'emails'>,
  db: Db,
  user: UserRecord,
  { attempt, isFactor }: { attempt: Failures; isFactor: boolean },
  now: Date,
): Promise<void> {
  const kind = chooseNotification(attempt, isFactor)
  if (kind) await db.transaction().execute((trx) => notifyUser(emails, trx, user, { kind }, now))
}

type Failures = Pick<Attempt, 'dayFailures' | 'isLastOfDay'>

function chooseNotification({ dayFailures, isLastOfDay }: Failures, isFactor: boolean) {
  if (isLastOfDay) return 'too_many_attempts_notification'
  const isSuspicious = isFactor && dayFailures === notifiedFailures
  return isSuspicious ? 'mfa_verification_failed_notification' : undefined
}
