/** Single logout started here by a user (SAML 2.0 Profiles §4.4.3.1), and the end of the sessions of sign-ins. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { deleteFlowState } from '../../db/flows/flow-states.ts'
import {
  findSamlLoginOfSession,
  insertSamlLogout,
  listSamlLogins,
  listSamlLoginsOfUser,
  type SamlLogin,
  type SamlPrincipal,
} from '../../db/saml/logins.ts'
import { findSsoProvider } from '../../db/saml/providers.ts'
import { lockUsers } from '../../db/users/update-user.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import type { Endpoint } from '../../providers/saml/idp-metadata.ts'
import { logoutRequest, type NameId } from '../../providers/saml/messages.ts'
import { recordAudit } from '../audit/index.ts'
import { revokeSession } from '../sessions/index.ts'
import { getSamlMetadata, isMetadataExpired } from './metadata.ts'
import { messageId, postPage, sendSamlMessage } from './send.ts'
import { getServiceProvider } from './service-provider.ts'

interface LogoutStart {
  user: UserRecord
  sessionId: string
  /** Already validated. */
  redirectTo: string
  ip: string
}

/**
 * Revokes the session and those of the same provider session. Returns the redirect target: the provider, or the final
 * target when the provider does not support single logout.
 */
export async function startLogout(
  app: FastifyInstance,
  trx: Trx,
  { user, sessionId, redirectTo, ip }: LogoutStart,
  now: Date,
): Promise<string> {
  const login = await findSamlLoginOfSession(trx, sessionId)
  if (login?.name_id) {
    const { sso_provider_id, name_id, session_index } = login
    const sessionIndexes = session_index ? [session_index] : []
    await endLogins(app, trx, { sso_provider_id, name_id, sessionIndexes }, ip, now)
  } else {
    await recordAudit(app.audit, trx, 'logout', user, { ip, now })
    await revokeSession(app, trx, user.id, sessionId, now)
  }
  return (login && (await requestLogout(app, trx, login, redirectTo, now))) ?? redirectTo
}

/** Undefined for a provider without single logout, or with expired metadata. */
async function requestLogout(
  app: FastifyInstance,
  trx: Trx,
  login: SamlLogin,
  redirectTo: string,
  now: Date,
): Promise<string | undefined> {
  const provider = await findSsoProvider(trx, login.sso_provider_id)
  const metadata = provider && (await getSamlMetadata(provider))
  const [endpoint] = metadata && !isMetadataExpired(metadata, now) ? metadata.logout : []
  const nameId = toNameId(login)
  if (!endpoint || !nameId) return undefined
  const [id, request_id] = [crypto.randomUUID(), messageId()]
  const { url, fields } = await sendSamlMessage(app, endpoint, {
    kind: 'SAMLRequest',
    xml: buildRequest(app, login, nameId, endpoint, { id: request_id, issuedAt: now }),
    relayState: id,
  })
  const { sso_provider_id } = login
  const message = fields?.SAMLRequest ?? null
  await insertSamlLogout(trx, {
    id,
    sso_provider_id,
    request_id,
    redirect_to: redirectTo,
    message,
    created_at: now,
  })
  return message === null ? url : postPage(app, id)
}

function buildRequest(
  app: FastifyInstance,
  { session_index: sessionIndex }: SamlLogin,
  nameId: NameId,
  { url: destination }: Endpoint,
  head: { id: string; issuedAt: Date },
): string {
  const { entityId: issuer } = getServiceProvider(app)
  return logoutRequest({ ...head, issuer, destination, nameId, sessionIndex })
}

function toNameId(login: SamlLogin): NameId | undefined {
  const { name_id: value, name_id_format: format } = login
  if (value === null) return undefined
  const { name_qualifier: nameQualifier, sp_name_qualifier: spNameQualifier } = login
  return { value, format, nameQualifier, spNameQualifier }
}

/** All sign-ins that the provider names. Their users are locked first, so that no code is exchanged concurrently. */
export async function endLogins(
  app: FastifyInstance,
  trx: Trx,
  principal: SamlPrincipal,
  ip: string,
  now: Date,
): Promise<void> {
  const known = await listSamlLogins(trx, principal)
  const userIds = [...new Set(known.map(({ user_id }) => user_id))]
  if (userIds.length === 0) return
  await lockUsers(trx, userIds)
  for (const login of await listSamlLogins(trx, principal)) await endLogin(app, trx, login, now)
  const traits = { provider: `sso:${principal.sso_provider_id}`, reason: 'single logout' }
  for (const id of userIds) {
    const user = await findUser(trx, id)
    if (user) await recordAudit(app.audit, trx, 'logout', user, { ip, now, traits })
  }
}

/** The user must be locked. */
export async function endLoginsOfUser(
  app: FastifyInstance,
  trx: Trx,
  of: Pick<SamlLogin, 'sso_provider_id' | 'user_id'>,
  now: Date,
): Promise<void> {
  for (const login of await listSamlLoginsOfUser(trx, of)) await endLogin(app, trx, login, now)
}

async function endLogin(
  app: FastifyInstance,
  trx: Trx,
  { user_id, session_id, flow_id }: SamlLogin,
  now: Date,
): Promise<void> {
  if (session_id) await revokeSession(app, trx, user_id, session_id, now)
  if (flow_id) await deleteFlowState(trx, flow_id)
}
