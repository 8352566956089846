/** Effects of a new factor or new recovery codes. */
import type { Trx } from '../../db/core/database.ts'
import type { FactorType } from '../../db/tables/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { notifyUser } from '../emails/index.ts'

interface EnrolledFactor {
  factor_id: string
  factor_type: FactorType
  /** False for replaced recovery codes: an email and no event. */
  isNew: boolean
}

/** Records the event and queues the email. */
export async function notifyEnrolled(
  { emails, events }: Deps<'emails' | 'events'>,
  trx: Trx,
  user: UserRecord,
  { isNew, ...enrolled }: EnrolledFactor,
  now: Date,
): Promise<void> {
  if (isNew) await events.record(trx, 'factor.enrolled', user.id, enrolled, now)
  const kind = 'mfa_factor_enrolled_notification'
  await notifyUser(emails, trx, user, { kind, FactorType: enrolled.factor_type }, now)
}
