/** The grants of a user, and their revocation. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { listConsents, revokeConsent } from '../../db/oauth-server/consents.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { oauthConsentNotFound } from '../../schemas/errors.ts'
import { type OauthGrant, toGrant } from '../../schemas/oauth/authorization.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { endClientSessions } from './clients/manage.ts'

/** Newest first. */
export async function listGrants(db: Db, userId: string): Promise<OauthGrant[]> {
  return (await listConsents(db, userId)).map(toGrant)
}

/** Revokes the consent with the client's sessions, codes and requests. Throws oauth_consent_not_found. */
export async function revokeGrant(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  clientId: string,
  { ip, now }: AuditContext,
): Promise<void> {
  await revokeGrantByAdmin(app, trx, user, clientId, now)
  const traits = { oauth_client_id: clientId, action: 'revoke_oauth_grant' }
  await recordAudit(app.audit, trx, 'token_revoked', user, { ip, now, traits })
}

/** As revokeGrant, for an admin; the caller records the audit entry. Throws oauth_consent_not_found. */
export async function revokeGrantByAdmin(
  app: FastifyInstance,
  trx: Trx,
  user: Pick<UserRecord, 'id'>,
  clientId: string,
  now: Date,
): Promise<void> {
  if (!(await revokeConsent(trx, user.id, clientId, now))) throw oauthConsentNotFound()
  await endClientSessions(app, trx, { client_id: clientId, user_id: user.id }, now)
}
