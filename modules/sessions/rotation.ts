/**
 * What both formats of refresh tokens share: the result of a rotation, the reasons why a session cannot be refreshed,
 * and the revocation after reuse.
 */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { OrganizationScope } from '../../db/organizations/active.ts'
import { hasNewerSession } from '../../db/sessions/refreshable.ts'
import type { SessionRecord, TokenSession } from '../../db/sessions/sessions.ts'
import { isBanned } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  type ApiError,
  oauthSession,
  refreshTokenNotFound,
  sessionExpired,
  userBanned,
} from '../../schemas/errors.ts'
import { recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { revokeSession } from './revoke.ts'

/** The client that presents a refresh token. */
export interface Presenter extends ClientInfo {
  /** The authenticated OAuth client; only it may refresh its sessions. */
  oauthClientId?: string
  /** The organization of the token; the session's active one when absent. */
  organizationId?: string | undefined
}

/** A rejection is returned, not thrown, so that its writes are committed. */
export type RotationOutcome = RotationResult | ApiError

export interface RotationResult {
  record: TokenSession
  /** The token of the response. */
  token: string
  outcome: 'rotated' | 'reused'
}

/** The actor of the request is the user of the session, or the admin who impersonates the user. */
export function identifyHolder(
  { bearerAuth }: FastifyInstance,
  { id, impersonated_by: sub }: TokenSession,
): void {
  bearerAuth.identify({ actor: { type: 'user', id }, ...(sub && { act: { sub } }) })
}

const reasons = {
  not_after: '',
  timebox: '',
  inactivity: 'Inactivity',
  low_aal: 'Low AAL: User Needs MFA Verification',
} as const

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

/**
 * Refresh token reuse: two clients have the token, and it is unknown which one is the owner's. Revokes the session with
 * all tokens that descend from the stolen one (RFC 9700 §4.14.2).
 */
export async function revokeForReuse(
  app: FastifyInstance,
  record: SessionRecord,
  { ip }: ClientInfo,
  now: Date,
): Promise<void> {
  if (!app.bearerAuth.sessionPolicy.rotation) return
  const traits = { session_id: record.session_id, reason: 'refresh token reused' }
  await app.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(app, trx, record.id, record.session_id, now))) return
    await recordAudit(app.audit, trx, 'token_revoked', record, { ip: ip ?? '', now, traits })
    const alert = { kind: 'refresh_token_reused_notification' } as const
    await notifyUser(app, trx, record, alert, now)
  })
}

/**
 * For the organization of a token; undefined while organizations are disabled, so that no statement reads their tables.
 */
export function organizationScope(
  { config }: FastifyInstance,
  organizationId: string | null = null,
): OrganizationScope | undefined {
  return config.AUTH_ORGANIZATIONS_ENABLED ? { organizationId } : undefined
}
