/** Why a session may not be refreshed, whatever the token. */
import type { Db } from '../../../db/database.ts'
import { hasNewerSession } from '../../../db/newer-session.ts'
import type { SessionRecord } from '../../../db/sessions.ts'
import { isBanned } from '../../../db/users.ts'
import {
  type ApiError,
  oauthSession,
  refreshTokenNotFound,
  sessionExpired,
  userBanned,
} from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

const reasons = {
  not_after: '',
  timebox: '',
  inactivity: 'Inactivity',
  low_aal: 'Low AAL: User Needs MFA Verification',
} as const

export async function findRefusal(
  { db, bearerAuth }: House<'bearerAuth' | 'db'>,
  record: SessionRecord,
  now: Date,
): Promise<ApiError | undefined> {
  if (record.deleted_at) return refreshTokenNotFound()
  if (isBanned(record, now)) {
    return userBanned(400, 'Invalid Refresh Token: User Banned')
  }
  const limit = bearerAuth.sessionPolicy.expiredBy(record, now)
  if (limit) return sessionExpired(reasons[limit])
  // The tokens would say nothing of the application, nor of what the person let it do.
  if (record.oauth_client_id) return oauthSession()
  const isOld = await isReplaced({ bearerAuth }, db, record, now)
  return isOld ? sessionExpired('Revoked by Newer Login') : undefined
}

/** Whether a later session has taken its place, where people have one of each kind. */
export async function isReplaced(
  { bearerAuth: { sessionPolicy: policy } }: House<'bearerAuth'>,
  db: Db,
  { session_id: sessionId }: Pick<SessionRecord, 'session_id'>,
  now: Date,
): Promise<boolean> {
  if (!policy.singlePerUser) return false
  const others = { tags: policy.tags, openedAfter: policy.openedAfter(now) }
  return hasNewerSession(db, sessionId, others, now)
}
