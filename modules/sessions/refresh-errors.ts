/** Reasons why a session cannot be refreshed, whatever the token. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { hasNewerSession } from '../../db/sessions/refreshable.ts'
import type { SessionRecord } from '../../db/sessions/sessions.ts'
import { isBanned } from '../../db/users/users.ts'
import {
  type ApiError,
  oauthSession,
  refreshTokenNotFound,
  sessionExpired,
  userBanned,
} from '../../schemas/errors.ts'

const reasons = {
  not_after: '',
  timebox: '',
  inactivity: 'Inactivity',
  low_aal: 'Low AAL: User Needs MFA Verification',
} as const

import type { Presenter } from './rotation.ts'

export async function findRefreshError(
  app: FastifyInstance,
  record: SessionRecord,
  { oauthClientId }: Pick<Presenter, 'oauthClientId'>,
  now: Date,
): Promise<ApiError | undefined> {
  // A client's token at another endpoint or of another client: the new tokens would not reflect the grant.
  if (record.oauth_client_id !== (oauthClientId ?? null)) return oauthSession()
  if (record.deleted_at) return refreshTokenNotFound()
  if (isBanned(record, now)) {
    return userBanned(400, 'Invalid Refresh Token: User Banned')
  }
  const limit = app.bearerAuth.sessionPolicy.expiredBy(record, now)
  if (limit) return sessionExpired(reasons[limit])
  if (record.oauth_client_id) return undefined
  const isOld = await isSuperseded(app, app.db, record, now)
  return isOld ? sessionExpired('Revoked by Newer Login') : undefined
}

/** Whether a later session has superseded it, under the single-session rule. */
export async function isSuperseded(
  { bearerAuth: { sessionPolicy: policy } }: FastifyInstance,
  db: Db,
  { session_id: sessionId }: Pick<SessionRecord, 'session_id'>,
  now: Date,
): Promise<boolean> {
  if (!policy.singlePerUser) return false
  const others = { tags: policy.tags, openedAfter: policy.openedAfter(now) }
  return hasNewerSession(db, sessionId, others, now)
}
