/**
 * Handles the callback of an external sign-in (authorize.ts started it). The state is consumed before the provider is
 * called, so that neither another nor a failed callback can reuse it.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { type FlowStateRow, insertFlowState } from '../../db/flows/flow-states.ts'
import {
  consumeOauthState,
  findOauthFlow,
  insertOwnedFlow,
  type OauthFlowRow,
} from '../../db/flows/oauth-states.ts'
import { findUser } from '../../db/users/users.ts'
import type { FlowSecrets, ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import {
  badOauthCallback,
  badOauthState,
  flowStateAlreadyUsed,
  oauthClientStateNotFound,
  userNotFound,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { readStored } from '../../schemas/values/stored.ts'

/** A pending external sign-in. */
export interface AuthorizationState {
  id: string
  provider: string
  /** The final redirect target. */
  target: string
  emailOptional: boolean
  /** The user who links an identity. */
  linkingTargetId: string | null
  /** The session that started the linking; the flow ends with it. */
  linkingSessionId: string | null
  inviteToken: string | undefined
  /** The expected hash of the cookie; undefined when any browser may complete the flow. */
  browserHash: string | undefined
  secrets: FlowSecrets
  /** For a client with PKCE (RFC 7636). */
  pkce: Pick<FlowStateRow, 'code_challenge' | 'code_challenge_method'> | undefined
}

/**
 * Returns the flow of a callback. Throws bad_oauth_callback, bad_oauth_state, flow_state_already_used, user_not_found.
 */
export async function loadAuthorizationState(
  app: FastifyInstance,
  state: string,
  now: Date,
): Promise<AuthorizationState> {
  const { config, db } = app
  if (state === '') throw badOauthCallback('OAuth state parameter missing')
  if (!isUuid(state)) throw badOauthState('OAuth state parameter is invalid')
  const row = await findOauthFlow(db, state)
  if (!row) throw badOauthState('OAuth state not found or expired')
  if (row.auth_code_issued_at) throw flowStateAlreadyUsed()
  const lifetimeMs = config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION * 1000
  if (now.getTime() - (row.created_at?.getTime() ?? 0) > lifetimeMs) {
    throw badOauthState('OAuth state has expired')
  }
  const { linking_target_id: linkingTargetId } = row
  if (linkingTargetId && !(await findUser(db, linkingTargetId))) throw userNotFound()
  return readFlow(app, row)
}

/** The redirect target of a flow, also of one that has expired. */
export async function findStateTarget(
  { db }: FastifyInstance,
  state: string,
): Promise<string | undefined> {
  const row = isUuid(state) ? await findOauthFlow(db, state) : undefined
  return row?.referrer ?? undefined
}

/** Consumes the state. After another callback throws bad_oauth_state, with PKCE oauth_client_state_not_found. */
export async function consumeState(
  { db }: FastifyInstance,
  { id, secrets }: AuthorizationState,
): Promise<void> {
  if (await consumeOauthState(db, id)) return
  if (secrets.codeVerifier) throw oauthClientStateNotFound()
  throw badOauthState('OAuth state not found or expired')
}

/** Issues the auth code for the client that started the flow. */
export async function issueOauthCode(
  { encryption }: FastifyInstance,
  trx: Trx,
  flow: AuthorizationState,
  userId: string,
  { providerToken = '', providerRefreshToken = '' }: ProviderIdentity,
  now: Date,
): Promise<string> {
  const seal = (token: string) => token && encryption.seal(flow.id, token)
  const code = crypto.randomUUID()
  const issued = {
    id: flow.id,
    user_id: userId,
    provider_type: flow.provider,
    auth_code: code,
    auth_code_issued_at: now,
    authentication_method: 'oauth',
    code_challenge: flow.pkce?.code_challenge ?? null,
    code_challenge_method: flow.pkce?.code_challenge_method ?? null,
    provider_access_token: seal(providerToken),
    provider_refresh_token: seal(providerRefreshToken),
    linking_target_id: flow.linkingTargetId,
  }
  // The code of a linking flow ends with the session too, since it creates another one.
  const owned = { session_id: flow.linkingSessionId, secrets: null }
  if (flow.linkingTargetId) await insertOwnedFlow(trx, issued, owned, now)
  else await insertFlowState(trx, issued, now)
  return code
}

function readFlow(app: FastifyInstance, row: OauthFlowRow): AuthorizationState {
  const { config } = app
  const { code_challenge, code_challenge_method } = row
  const { inviteToken, browserHash, ...stored } = decryptFlowSecrets(app, row.id, row.secrets)
  const gotrueSecrets = {
    startedByGotrue: true,
    ...(row.code_verifier && { codeVerifier: row.code_verifier }),
  }
  const secrets = row.is_ours ? stored : gotrueSecrets
  return {
    id: row.id,
    provider: row.provider_type,
    // AUTH_EXTERNAL_REDIRECTURL overrides the target of every external sign-in.
    target: config.AUTH_EXTERNAL_REDIRECTURL ?? (row.referrer || config.AUTH_SITE_URL),
    emailOptional: row.email_optional,
    linkingTargetId: row.linking_target_id,
    linkingSessionId: row.session_id,
    inviteToken: inviteToken ?? row.invite_token ?? undefined,
    browserHash,
    secrets,
    pkce: code_challenge ? { code_challenge, code_challenge_method } : undefined,
  }
}

type NewFlow = Pick<AuthorizationState, 'id' | 'provider'>

/** Providers whose callback is a cross-site POST, which does not send Lax cookies: Apple, and those of SAML. */
const formPostProviders = ['apple', 'saml']

/**
 * Creates the value that binds an external sign-in to the browser that started it, and its hash: a cookie has the value,
 * the flow the hash (docs/decisions/2026-11-21-browser-bound-state.md). It is read by the callback and the endpoints of
 * SAML only. Undefined for a flow without binding.
 */
export function createStateValue(
  { config }: FastifyInstance,
  query: Readonly<Record<string, string>>,
): { value: string; hash: string } | undefined {
  const isAlways = config.AUTH_EXTERNAL_BIND_BROWSER === 'always'
  if (!isAlways && query.bind_browser !== 'true') return undefined
  const value = randomBytes(32).toString('base64url')
  return { value, hash: hashValue(value) }
}

/** The cookie for the response that redirects to the provider. */
export function stateCookie(app: FastifyInstance, flow: NewFlow, value: string): string {
  return cookie(app, flow, value, app.config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION)
}

/** The cookie for the response that completes the sign-in. */
export function clearedStateCookie(app: FastifyInstance, flow: NewFlow): string {
  return cookie(app, flow, '', 0)
}

/** Whether this browser started the flow, or the flow is not bound. */
export function isSameBrowser(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { id, browserHash }: Pick<AuthorizationState, 'id' | 'browserHash'>,
): boolean {
  if (browserHash === undefined) return true
  return timingSafeEqual(
    Buffer.from(readBrowserHash(app, { headers }, id)),
    Buffer.from(browserHash),
  )
}

/** The hash of the cookie of a flow, which is stored with it; that of an empty value without a cookie. */
export function readBrowserHash(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
  id: string,
): string {
  return hashValue(parseCookie(headers.cookie ?? '')[getCookieName(app, id)] ?? '')
}

function cookie(app: FastifyInstance, flow: NewFlow, value: string, maxAge: number): string {
  const secure = isSecure(app)
  const sameSite = formPostProviders.includes(flow.provider) && secure ? 'none' : 'lax'
  const name = getCookieName(app, flow.id)
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, secure, sameSite, maxAge })
}

/** Concurrent sign-ins have distinct cookies. */
function getCookieName(app: FastifyInstance, id: string): string {
  return `${isSecure(app) ? '__Host-' : ''}postern-flow-${id.slice(0, 8)}`
}

function isSecure({ config }: FastifyInstance): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

function hashValue(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

/** Secrets of the provider's protocol, the invitation, and the browser binding. */
/** The encrypted data of a flow until its callback. */
const StoredSecrets = Type.Object({
  v: Type.Literal(1),
  codeVerifier: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  requestToken: Type.Optional(Type.String()),
  requestTokenSecret: Type.Optional(Type.String()),
  inviteToken: Type.Optional(Type.String()),
  browserHash: Type.Optional(Type.String()),
})

type OauthSecrets = Omit<Static<typeof StoredSecrets>, 'v'>

export function encryptFlowSecrets(
  { encryption }: FastifyInstance,
  flowId: string,
  secrets: OauthSecrets,
): string {
  const stored: Static<typeof StoredSecrets> = { v: 1, ...secrets }
  return encryption.encrypt(flowId, JSON.stringify(stored))
}

/** Throws DecryptionError when its key is not configured, and StoredFormError. */
function decryptFlowSecrets(
  { encryption }: FastifyInstance,
  flowId: string,
  encrypted: string | null,
): OauthSecrets {
  if (!encrypted) return {}
  const what = 'An external sign-in'
  const parsed: unknown = JSON.parse(encryption.decrypt(flowId, encrypted, what))
  const { v: _, ...secrets } = readStored(StoredSecrets, parsed, what)
  return secrets
}
