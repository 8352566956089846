/**
 * A sign-in through an OAuth provider on its way there. The OAuth state is the id of a row; what must not travel through
 * the browser waits in that row, encrypted.
 */
import type { NewFlowState } from '../../../db/flow-states.ts'
import { isForeignKeyViolation } from '../../../db/foreign-key-violation.ts'
import { insertOwnedFlow } from '../../../db/oauth-flows.ts'
import { sessionNotFound, userNotFound } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from './link-context.ts'
import type { OauthFlow } from './oauth-state.ts'
import { sealSecrets } from './stored-secrets.ts'

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

/** As it is known before it has a row. */
interface Begun {
  id: string
  provider: string
  inviteToken: string | undefined
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
  const { db, oauthProviders, takeover } = house
  const { linkingSessionId, browserHash } = request
  const { provider: asked = '', scopes = '', invite_token: inviteToken, ...others } = request.query
  const { bind_browser: _, ...params } = others
  const provider = oauthProviders.nameOf(asked)
  const id = crypto.randomUUID()
  const listed = scopes.split(/[\s,]+/).filter(Boolean)
  const authorization = { state: id, scopes: listed, params, now }
  const { url, secrets } = await oauthProviders.start(provider, authorization)
  if (inviteToken) await checkInvitation(house, inviteToken, now)
  const row = rowOf(house, { id, provider, inviteToken }, request)
  const sealed = sealSecrets(house, id, {
    ...secrets,
    ...(inviteToken && { inviteToken }),
    ...(browserHash !== undefined && { browserHash }),
  })
  const owned = { session_id: linkingSessionId ?? null, secrets: sealed }
  const shared = takeover.isShared ? secrets.codeVerifier : undefined
  await insertOwnedFlow(db, row, owned, now, shared).catch((error) => {
    throw isForeignKeyViolation(error) ? sessionNotFound() : error
  })
  return { id, provider, url: url.href }
}

async function checkInvitation({ db, otp }: House<'db' | 'otp'>, token: string, now: Date) {
  const live = await otp.findLink(db, ['confirmation_token'], token, now)
  if (!live) throw userNotFound('There is no invitation for this token')
}

/** The part of it that GoTrue has a table for. */
function rowOf(
  { oauthProviders, takeover }: House<'oauthProviders' | 'takeover'>,
  { id, provider, inviteToken }: Begun,
  { context: { redirectTo, pkce }, linkingTargetId }: OauthRequest,
): NewFlowState {
  return {
    id,
    user_id: null,
    auth_code: pkce ? crypto.randomUUID() : null,
    provider_type: provider,
    authentication_method: 'oauth',
    referrer: redirectTo,
    // Where GoTrue looks, should the browser come back to it.
    ...(takeover.isShared && { invite_token: inviteToken ?? null }),
    code_challenge: pkce?.challenge ?? null,
    code_challenge_method: pkce?.method ?? null,
    linking_target_id: linkingTargetId ?? null,
    email_optional: oauthProviders.emailOptional(provider),
  }
}
