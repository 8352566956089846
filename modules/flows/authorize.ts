/**
 * Starts an authorization code flow with a provider. The OAuth state is the id of a row with the encrypted data that
 * must not pass through the browser.
 */
import type { FastifyInstance } from 'fastify'

import { isForeignKeyViolation } from '../../db/core/errors.ts'
import type { NewFlowState } from '../../db/flows/flow-states.ts'
import { insertOwnedFlow } from '../../db/flows/oauth-states.ts'
import { sessionNotFound, userNotFound } from '../../schemas/errors.ts'
import { findEmailLink } from '../otp/index.ts'
import type { LinkContext } from '../otp/links.ts'
import { type AuthorizationState, encryptFlowSecrets } from './oauth-state.ts'

interface OauthRequest {
  /** `provider`, `scopes` and `invite_token` are read here; the rest is for the provider. */
  query: Readonly<Record<string, string>>
  context: Pick<LinkContext, 'redirectTo' | 'pkce'>
  /** The user whom the identity will be linked to, and their session. */
  linkingTargetId?: string
  linkingSessionId?: string | undefined
  /** The hash of the cookie (state-cookie.ts). */
  browserHash?: string | undefined
}

/** A flow before its insertion. */
interface NewFlow {
  id: string
  provider: string
  emailOptional: boolean
  inviteToken: string | undefined
}

/**
 * Stores the flow and returns its id and the authorization URL. Throws validation_failed, user_not_found for an invalid
 * invitation, session_not_found for a session that has ended.
 */
export async function startAuthorization(
  app: FastifyInstance,
  request: OauthRequest,
  now: Date,
): Promise<Pick<AuthorizationState, 'id' | 'provider'> & { url: string }> {
  const { db, oauthProviders, gotrueMigration: takeover } = app
  const { linkingSessionId, browserHash } = request
  const {
    provider: providerName = '',
    scopes = '',
    invite_token: inviteToken,
    ...others
  } = request.query
  const { bind_browser: _, ...params } = others
  const { provider, emailOptional } = await oauthProviders.resolve(providerName)
  const id = crypto.randomUUID()
  const listed = scopes.split(/[\s,]+/).filter(Boolean)
  const authorization = { state: id, scopes: listed, params, now }
  const { url, secrets } = await oauthProviders.start(provider, authorization)
  if (inviteToken) await checkInvitation(app, inviteToken, now)
  const row = toRow(app, { id, provider, emailOptional, inviteToken }, request)
  const encrypted = encryptFlowSecrets(app, id, {
    ...secrets,
    ...(inviteToken && { inviteToken }),
    ...(browserHash !== undefined && { browserHash }),
  })
  const owned = { session_id: linkingSessionId ?? null, secrets: encrypted }
  const shared = takeover.isShared ? secrets.codeVerifier : undefined
  await insertOwnedFlow(db, row, owned, now, shared).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  return { id, provider, url: url.href }
}

async function checkInvitation(app: FastifyInstance, token: string, now: Date) {
  const live = await findEmailLink(app, app.db, ['confirmation_token'], { linkToken: token }, now)
  if (!live) throw userNotFound('No invitation has this token')
}

/** The columns of GoTrue's table. */
function toRow(
  { gotrueMigration: takeover }: FastifyInstance,
  { id, provider, emailOptional, inviteToken }: NewFlow,
  { context: { redirectTo, pkce }, linkingTargetId }: OauthRequest,
): NewFlowState {
  return {
    id,
    user_id: null,
    auth_code: pkce ? crypto.randomUUID() : null,
    provider_type: provider,
    authentication_method: 'oauth',
    referrer: redirectTo,
    // GoTrue's column, in case GoTrue gets the callback.
    ...(takeover.isShared && { invite_token: inviteToken ?? null }),
    code_challenge: pkce?.challenge ?? null,
    code_challenge_method: pkce?.method ?? null,
    linking_target_id: linkingTargetId ?? null,
    email_optional: emailOptional,
  }
}
