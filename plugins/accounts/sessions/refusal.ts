/** Why a session may not be refreshed, whatever the token. */
import type { Db } from '../../../db/database.ts'
import { hasNewerSession } from '../../../db/newer-session.ts'
import type { SessionRecord } from '../../../db/sessions.ts'
import { type ApiError, refreshTokenNotFound, sessionExpired, userBanned } from '../../../errors.ts'

import type { SessionPolicy } from '../../session-policy.ts'

export async function findRefusal(
  { db, policy }: { db: Db; policy: SessionPolicy },
  record: SessionRecord,
  now: Date,
): Promise<ApiError | undefined> {
  if (record.deleted_at) return refreshTokenNotFound()
  if (record.banned_until && record.banned_until > now) {
    return userBanned(400, 'Invalid Refresh Token: User Banned')
  }
  const limit = policy.expiredBy(record, now)
  if (limit) return sessionExpired(limit === 'inactivity' ? 'Inactivity' : '')
  if (!policy.singlePerUser) return undefined
  const others = { tags: policy.tags, openedAfter: policy.openedAfter(now) }
  const isOld = await hasNewerSession(db, record.session_id, others, now)
  return isOld ? sessionExpired('Revoked by Newer Login') : undefined
}
