/** Why a session may not be refreshed, whatever the token. */
import { hasNewerSession } from '../../../db/newer-session.ts'
import type { SessionRecord } from '../../../db/sessions.ts'
import { isBanned } from '../../../db/users.ts'
import { type ApiError, refreshTokenNotFound, sessionExpired, userBanned } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

const reasons = {
  not_after: '',
  timebox: '',
  inactivity: 'Inactivity',
  low_aal: 'Low AAL: User Needs MFA Verification',
} as const

export async function findRefusal(
  { db, bearerAuth: { sessionPolicy: policy } }: House<'bearerAuth' | 'db'>,
  record: SessionRecord,
  now: Date,
): Promise<ApiError | undefined> {
  if (record.deleted_at) return refreshTokenNotFound()
  if (isBanned(record, now)) {
    return userBanned(400, 'Invalid Refresh Token: User Banned')
  }
  const limit = policy.expiredBy(record, now)
  if (limit) return sessionExpired(reasons[limit])
  if (!policy.singlePerUser) return undefined
  const others = { tags: policy.tags, openedAfter: policy.openedAfter(now) }
  const isOld = await hasNewerSession(db, record.session_id, others, now)
  return isOld ? sessionExpired('Revoked by Newer Login') : undefined
}
