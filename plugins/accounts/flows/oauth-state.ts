/**
 * Sign-ins through an OAuth provider, from the way there to the way back. The OAuth state is the id of a row; what
 * must not travel through the browser waits in that row, encrypted. A state is spent before the provider is asked, so
 * that neither a second callback nor one that failed can use it again.
 */
import type { Trx } from '../../../db/database.ts'
import { type FlowStateRow, insertFlowState } from '../../../db/flow-states.ts'
import { isForeignKeyViolation } from '../../../db/foreign-key-violation.ts'
import {
  findOauthFlow,
  insertOwnedFlow,
  type OauthFlowRow,
  takeOauthFlow,
} from '../../../db/oauth-flows.ts'
import { findUser } from '../../../db/users.ts'
import {
  badOauthCallback,
  badOauthState,
  flowStateAlreadyUsed,
  sessionNotFound,
  userNotFound,
} from '../../../errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import type { House } from '../../define-plugin.ts'
import type { FlowSecrets, Identity } from '../../oauth-providers.ts'
import type { LinkContext } from './link-context.ts'
import { openSecrets, sealSecrets } from './stored-secrets.ts'

/** A sign-in through a provider under way, as it is read from its row. */
export interface OauthFlow {
  id: string
  provider: string
  /** Where the browser goes in the end. */
  target: string
  emailOptional: boolean
  /** The person who asked for another way to sign in. */
  linkingTargetId: string | null
  /** The session in which they asked, with which the flow ends. */
  linkingSessionId: string | null
  inviteToken: string | undefined
  /** Of the value that the browser has to bring; undefined when any browser may end the sign-in. */
  browserHash: string | undefined
  secrets: FlowSecrets
  /** Of a client that waits for a code (RFC 7636). */
  pkce: Pick<FlowStateRow, 'code_challenge' | 'code_challenge_method'> | undefined
}

export interface OauthRequest {
  /** `provider`, `scopes` and `invite_token` are read here; what is left is for the provider. */
  query: Readonly<Record<string, string>>
  context: Pick<LinkContext, 'redirectTo' | 'pkce'>
  /** The person whom the identity is to be linked to, and their session. */
  linkingTargetId?: string
  linkingSessionId?: string | undefined
  /** Of the value that the browser was given (browser-binding.ts). */
  browserHash?: string | undefined
}

/**
 * Remembers the request and returns where to send the browser, and as which flow.
 * Throws validation_failed, user_not_found for an invitation that is none, session_not_found for a session that ended.
 */
export async function beginOauth(
  house: House<'db' | 'encryption' | 'oauthProviders' | 'otp' | 'takeover'>,
  request: OauthRequest,
  now: Date,
): Promise<Pick<OauthFlow, 'id' | 'provider'> & { url: string }> {
  const { db, oauthProviders } = house
  const { query, context, linkingTargetId, linkingSessionId, browserHash } = request
  const { redirectTo, pkce } = context
  const { provider: asked = '', scopes = '', invite_token: inviteToken, ...others } = query
  const { bind_browser: _, ...params } = others
  const provider = oauthProviders.nameOf(asked)
  const id = crypto.randomUUID()
  const listed = scopes.split(/[\s,]+/).filter(Boolean)
  const authorization = { state: id, scopes: listed, params, now }
  const { url, secrets } = await oauthProviders.start(provider, authorization)
  if (inviteToken) await checkInvitation(house, inviteToken, now)
  const flow = {
    id,
    user_id: null,
    auth_code: pkce ? crypto.randomUUID() : null,
    provider_type: provider,
    authentication_method: 'oauth',
    referrer: redirectTo,
    // Where GoTrue looks, should the browser come back to it.
    ...(house.takeover.isShared && { invite_token: inviteToken ?? null }),
    code_challenge: pkce?.challenge ?? null,
    code_challenge_method: pkce?.method ?? null,
    linking_target_id: linkingTargetId ?? null,
    email_optional: oauthProviders.emailOptional(provider),
  }
  const sealed = sealSecrets(house, id, {
    ...secrets,
    ...(inviteToken && { inviteToken }),
    ...(browserHash !== undefined && { browserHash }),
  })
  const owned = { session_id: linkingSessionId ?? null, secrets: sealed }
  const shared = house.takeover.isShared ? secrets.codeVerifier : undefined
  await insertOwnedFlow(db, flow, owned, now, shared).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  return { id, provider, url: url.href }
}

/** The sign-in that a callback ends. Throws bad_oauth_callback, bad_oauth_state, flow_state_already_used, user_not_found. */
export async function findOauth(
  house: House<'config' | 'db' | 'encryption'>,
  state: string,
  now: Date,
): Promise<OauthFlow> {
  const { config, db } = house
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
  return readFlow(house, row)
}

/** Spends the state. Throws bad_oauth_state when another callback was first. */
export async function claimOauth({ db }: House<'db'>, { id }: OauthFlow): Promise<void> {
  if (!(await takeOauthFlow(db, id))) throw badOauthState('OAuth state not found or expired')
}

/** The code by which the client that started the flow gets the session. */
export async function issueOauthCode(
  { encryption }: House<'encryption'>,
  trx: Trx,
  flow: OauthFlow,
  userId: string,
  { providerToken = '', providerRefreshToken = '' }: Identity,
  now: Date,
): Promise<string> {
  const seal = (token: string) => token && encryption.seal(flow.id, token)
  const code = crypto.randomUUID()
  const answered = {
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
  // The code of a linking flow ends with the session, too: what it opens would be a session more.
  const owned = { session_id: flow.linkingSessionId, secrets: null }
  if (flow.linkingTargetId) await insertOwnedFlow(trx, answered, owned, now)
  else await insertFlowState(trx, answered, now)
  return code
}

async function checkInvitation({ db, otp }: House<'db' | 'otp'>, token: string, now: Date) {
  const live = await otp.findLink(db, ['confirmation_token'], token, now)
  if (!live) throw userNotFound('There is no invitation for this token')
}

function readFlow(house: House<'config' | 'encryption'>, row: OauthFlowRow): OauthFlow {
  const { config } = house
  const { code_challenge, code_challenge_method } = row
  const { inviteToken, browserHash, ...sealed } = openSecrets(house, row.id, row.secrets)
  const elsewhere = {
    begunElsewhere: true,
    ...(row.code_verifier && { codeVerifier: row.code_verifier }),
  }
  const secrets = row.is_ours ? sealed : elsewhere
  return {
    id: row.id,
    provider: row.provider_type,
    // AUTH_EXTERNAL_REDIRECTURL: every sign-in through a provider ends there, whatever the client asked for.
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
