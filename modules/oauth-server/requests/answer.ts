/** The user's decision about an authorization request: existing consent, new consent, or denial. */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import {
  approveAuthorization,
  bindAuthorization,
  closeAuthorization,
  findAuthorization,
  lockAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import { findConsent, upsertConsent } from '../../../db/oauth-server/consents.ts'
import { hasGrantedResources } from '../../../db/oauth-server/sessions.ts'
import { lockSessionShared } from '../../../db/sessions/sessions.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import { isBanned, type UserRecord } from '../../../db/users/users.ts'
import {
  approvalNeedsSignIn,
  insufficientAal,
  oauthAuthorizationNotFound,
  sessionNotFound,
  validationFailed,
} from '../../../schemas/errors.ts'
import { recordAccess } from '../../access/index.ts'
import { recordAudit } from '../../audit/index.ts'
import { lockAndLoadUser } from '../../users/index.ts'
import { type Client, hashClientSecret } from '../clients/client.ts'
import { getClient } from '../clients/manage.ts'
import { covers } from '../scopes.ts'
import { consentScope } from './claims.ts'
import { findMissing } from './demands.ts'
import { isUnspent, redirectTo } from './redirect.ts'

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
 * Locks the user and the session: they are checked before the transaction, and a sign-out or a ban may have come first.
 * Before a request or a device is locked, as in a revocation of the grant, to prevent deadlocks. Throws
 * session_not_found.
 */
export async function lockAnswering(
  trx: Trx,
  { user: { id }, signIn: { session_id: sessionId } }: Pick<Answering, 'user' | 'signIn'>,
  now: Date,
): Promise<void> {
  const user = await lockAndLoadUser(trx, id)
  const isActive = user && !user.deleted_at && !isBanned(user, now)
  if (!isActive) throw sessionNotFound()
  if (sessionId && !(await lockSessionShared(trx, id, sessionId))) throw sessionNotFound()
}

/**
 * Returns a pending request, now bound to the user. Throws session_not_found, oauth_authorization_not_found for one that
 * is unknown, expired or bound to another user, and validation_failed for one that was decided. `mayRebind`: at the
 * hosted pages, the browser may choose another account before it decides.
 */
export async function openRequest(
  trx: Trx,
  authorizationId: string,
  answering: Pick<Answering, 'user' | 'signIn'>,
  now: Date,
  { mayRebind = false } = {},
): Promise<OpenRequest> {
  const { user } = answering
  await lockAnswering(trx, answering, now)
  const request = await lockAuthorization(trx, authorizationId)
  const isOthers = request?.user_id && request.user_id !== user.id && !mayRebind
  if (!request || isOthers || request.expires_at <= now) throw oauthAuthorizationNotFound()
  if (request.status !== 'pending') {
    throw validationFailed('This authorization request was already approved or denied')
  }
  if (request.user_id !== user.id) await bindAuthorization(trx, request.id, user.id)
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
  if (!consent || isOutdated(consent, client)) return false
  if (!covers(consent.scopes, requestedScopes(request))) return false
  const { resources = [] } = request.parameters ?? {}
  return hasResources(trx, { userId: answering.user.id, clientId: client.id }, resources)
}

/** A stored consent has only scopes; the sessions of the client have the resource servers. */
const hasResources = async (
  trx: Trx,
  grant: Parameters<typeof hasGrantedResources>[1],
  resources: readonly string[],
): Promise<boolean> => resources.length === 0 || hasGrantedResources(trx, grant, resources)

/** The client has changed since the user consented. */
function isOutdated({ granted_at }: { granted_at: Date }, { reconsentAfter }: Client): boolean {
  return reconsentAfter !== null && granted_at < reconsentAfter
}

/** The scopes to consent to: the requested scope, and those of individually requested claims. */
export function requestedScopes({ scope, parameters }: StoredAuthorization): string {
  return consentScope(scope, parameters ?? {})
}

interface GivenConsent extends Pick<Answering, 'user' | 'ip'> {
  client: Client
  scopes: string
  resources: readonly string[]
}

/** Stores a consent, and tells the user unless the client has these scopes and resource servers already. */
export async function storeConsent(
  app: FastifyInstance,
  trx: Trx,
  { client, scopes, resources, user, ip }: GivenConsent,
  now: Date,
): Promise<void> {
  const of = { userId: user.id, clientId: client.id }
  const known = await findConsent(trx, user.id, client.id)
  await upsertConsent(trx, { ...of, scopes }, now)
  const isRepeated =
    known !== undefined &&
    !isOutdated(known, client) &&
    covers(known.scopes, scopes) &&
    (await hasResources(trx, of, resources))
  const named = { id: client.id, name: client.name ?? client.clientId }
  const grant = { kind: 'oauth_consent', client: named, scopes, isRepeated, ip } as const
  await recordAccess(app, trx, { user, grant }, now)
}

/** Stores consent and issues the code. Throws reauthentication_needed or insufficient_aal. */
export async function approve(
  app: FastifyInstance,
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
  const { resources = [] } = request.parameters ?? {}
  await storeConsent(app, trx, { client, scopes, resources, user, ip }, now)
  return issueCode(app, trx, request, signIn, now)
}

/** The redirect URI with a code, for stored consent. */
export async function issueCode(
  app: FastifyInstance,
  trx: Trx,
  request: StoredAuthorization,
  signIn: StoredAuthentication,
  now: Date,
): Promise<string> {
  const code = makeCode(app, request)
  const codeExpiresAt = new Date(now.getTime() + codeSeconds * 1000)
  const permit = { ...signIn, id: request.id, codeHash: hashClientSecret(code), codeExpiresAt }
  await approveAuthorization(trx, permit, now)
  return redirectTo(app, request, { code })
}

/** The redirect URI with the error, when the user denies the request. */
export async function deny(
  app: FastifyInstance,
  trx: Trx,
  { request, client }: OpenRequest,
  { user, ip }: Pick<Answering, 'user' | 'ip'>,
  now: Date,
): Promise<string> {
  await closeAuthorization(trx, request.id, 'denied')
  const traits = { client_id: client.id }
  await recordAudit(app.audit, trx, 'oauth_consent_denied', user, { ip, now, traits })
  return redirectTo(app, request, { error: 'access_denied' })
}

/**
 * The redirect URI of a request that the session has approved, or whose consent it had, until the code was exchanged or
 * has expired: a page that is loaded twice reads the request twice. Undefined for every other request.
 */
export async function findIssuedCode(
  app: FastifyInstance,
  db: Db,
  authorizationId: string,
  { user, signIn }: Pick<Answering, 'user' | 'signIn'>,
  now: Date,
): Promise<string | undefined> {
  const request = await findAuthorization(db, authorizationId)
  if (request?.user_id !== user.id || request.session_id !== signIn.session_id) return undefined
  const code = makeCode(app, request)
  const isIssued = hashClientSecret(code) === request.authorization_code
  return isIssued && isUnspent(request, now) ? redirectTo(app, request, { code }) : undefined
}

/**
 * A UUID, as GoTrue's codes are (RFC 9562 §5.8). It is derived, because only its hash is stored and it may be needed
 * again.
 */
function makeCode({ encryption }: FastifyInstance, { id }: StoredAuthorization): string {
  const hash = createHmac('sha256', encryption.deriveKey('authorization code')).update(id).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const text = hash.toString('hex', 0, 16)
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
