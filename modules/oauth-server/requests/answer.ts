/** The user's decision about an authorization request: existing consent, new consent, or denial. */
import type { Trx } from '../../../db/core/database.ts'
import {
  approveAuthorization,
  bindAuthorization,
  closeAuthorization,
  lockAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import { findConsent, upsertConsent } from '../../../db/oauth-server/consents.ts'
import { hasGrantedResources } from '../../../db/oauth-server/sessions.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import { lockUser } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import {
  approvalNeedsSignIn,
  insufficientAal,
  oauthAuthorizationNotFound,
  validationFailed,
} from '../../../schemas/errors.ts'
import { recordAudit } from '../../audit/index.ts'
import type { Client } from '../clients/client.ts'
import { getClient } from '../clients/manage.ts'
import { hashClientSecret } from '../clients/secret.ts'
import { covers } from '../scopes.ts'
import { consentScope } from './claims.ts'
import { findMissing } from './demands.ts'
import { redirectTo } from './redirect.ts'

/** The deciding user, their client, and how they signed in. */
export interface Answering {
  user: UserRecord
  signIn: StoredAuthentication
  /** The user has a second factor, and must verify it first. */
  requiresFactor: boolean
  ip: string
}

export interface OpenRequest {
  request: StoredAuthorization
  client: Client
}

/** Seconds after the approval. */
const codeSeconds = 60

/**
 * Returns a pending request, now bound to the user. Throws oauth_authorization_not_found for one that is unknown,
 * expired or bound to another user, and validation_failed for one that was decided.
 */
export async function openRequest(
  trx: Trx,
  authorizationId: string,
  { user }: Pick<Answering, 'user'>,
  now: Date,
): Promise<OpenRequest> {
  // The user is locked before the request, as in a revocation of the grant, to prevent deadlocks.
  await lockUser(trx, user.id)
  const request = await lockAuthorization(trx, authorizationId)
  const isOthers = request?.user_id && request.user_id !== user.id
  if (!request || isOthers || request.expires_at <= now) throw oauthAuthorizationNotFound()
  if (request.status !== 'pending') {
    throw validationFailed('This authorization request was already approved or denied')
  }
  if (!request.user_id) await bindAuthorization(trx, request.id, user.id)
  return { request, client: await getClient(trx, request.client_id) }
}

/** Whether consent is not needed: the user has granted all requested scopes to the client before (RFC 6749 §10.2). */
export async function isConsented(
  trx: Trx,
  { request, client }: OpenRequest,
  answering: Answering,
): Promise<boolean> {
  const { prompt = [] } = request.parameters ?? {}
  if (prompt.includes('consent') || prompt.includes('select_account')) return false
  if (findMissing(request, answering)) return false
  // Any program on the device can claim to be this client (RFC 8252 §8.6).
  if (client.type === 'public' && !request.redirect_uri.startsWith('https:')) return false
  const consent = await findConsent(trx, answering.user.id, client.id)
  const isOutdated = consent && client.reconsentAfter && consent.granted_at < client.reconsentAfter
  if (!consent || isOutdated || !covers(consent.scopes, requestedScopes(request))) return false
  // A stored consent has only scopes; the sessions of the client have the resource servers.
  const { resources = [] } = request.parameters ?? {}
  const grant = { userId: answering.user.id, clientId: client.id }
  return resources.length === 0 || hasGrantedResources(trx, grant, resources)
}

/** The scopes to consent to: the requested scope, and those of individually requested claims. */
export function requestedScopes({ scope, parameters }: StoredAuthorization): string {
  return consentScope(scope, parameters ?? {})
}

/** Stores consent and issues the code. Throws reauthentication_needed or insufficient_aal. */
export async function approve(
  deps: Deps<'audit' | 'jwt'>,
  trx: Trx,
  opened: OpenRequest,
  answering: Answering,
  now: Date,
): Promise<string> {
  const { request, client } = opened
  const { user, signIn, ip } = answering
  const missing = findMissing(request, answering)
  if (missing === 'second_factor') {
    throw insufficientAal('A second factor is required: verify one first', 403)
  }
  if (missing) throw approvalNeedsSignIn()
  const scopes = requestedScopes(request)
  await upsertConsent(trx, { userId: user.id, clientId: client.id, scopes }, now)
  const traits = { client_id: client.id, scopes }
  await recordAudit(deps.audit, trx, 'oauth_consent_granted', user, { ip, now, traits })
  return issueCode(deps, trx, request, signIn, now)
}

/** The redirect URI with a code, for stored consent. */
export async function issueCode(
  deps: Deps<'jwt'>,
  trx: Trx,
  request: StoredAuthorization,
  signIn: StoredAuthentication,
  now: Date,
): Promise<string> {
  const code = crypto.randomUUID()
  const codeExpiresAt = new Date(now.getTime() + codeSeconds * 1000)
  const permit = { ...signIn, id: request.id, codeHash: hashClientSecret(code), codeExpiresAt }
  await approveAuthorization(trx, permit, now)
  return redirectTo(deps, request.redirect_uri, { code, state: request.state })
}

/** The redirect URI with the error, when the user or this server denies the request. */
export async function deny(
  deps: Deps<'audit' | 'jwt'>,
  trx: Trx,
  { request, client }: OpenRequest,
  { user, ip }: Pick<Answering, 'user' | 'ip'>,
  now: Date,
): Promise<string> {
  await closeAuthorization(trx, request.id, 'denied')
  const traits = { client_id: client.id }
  await recordAudit(deps.audit, trx, 'oauth_consent_denied', user, { ip, now, traits })
  return redirectTo(deps, request.redirect_uri, {
    error: 'access_denied',
    error_description: 'The user denied the request',
    state: request.state,
  })
}
