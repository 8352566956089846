/**
 * A sign-in through an OAuth provider on its way back: begin-oauth.ts left a row for it. Its state is spent before the
 * provider is asked, so that neither a second callback nor one that failed can use it again.
 */
import type { Trx } from '../../../db/database.ts'
import { type FlowStateRow, insertFlowState } from '../../../db/flow-states.ts'
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
  userNotFound,
} from '../../../errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import type { House } from '../../define-plugin.ts'
import type { FlowSecrets, Identity } from '../../oauth-providers.ts'
import { openSecrets } from './stored-secrets.ts'

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
