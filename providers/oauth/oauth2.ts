/** The authorization code flow (RFC 6749 §4.1) with PKCE (RFC 7636), as most providers implement it. */
import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
} from 'oauth4webapi'

import { toProviderIdentity } from '../core/identity.ts'
import type { Provider } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type {
  AuthorizationRequest,
  FlowSecrets,
  ProviderHttp,
  ProviderSettings,
  Tokens,
} from '../core/types.ts'
import { atApi } from '../http/base-url.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, noReplyAs, parseResponseJson } from '../http/request.ts'
import {
  createCodeExchange,
  createProviderClient,
  describeTokenResponse,
  getErrorCode,
} from './code-exchange.ts'
import type { OAuth2Flow, ProfileSources } from './types.ts'

export function oauth2Provider(
  settings: ProviderSettings,
  upstream: ProviderHttp,
  flow: OAuth2Flow,
): Provider {
  const exchange = createCodeExchange(settings, upstream, flow)

  return {
    async authorizationUrl(request) {
      await createProviderClient(settings, flow, request.now)
      // The browser is redirected immediately when an endpoint is known, however old.
      const { authorize } = await flow.endpoints(request.now, 0)
      const secrets = newSecrets(flow, request)
      const query = await authorizationQuery(settings, flow, request, secrets)
      return { url: buildAuthorizationUrl(authorize, query), secrets }
    },

    async identity(callback) {
      const tokens = await exchange(callback)
      const get = createGet(settings, upstream, tokens)
      return toProviderIdentity(await flow.profile({ tokens, callback, get }), tokens)
    },
  }
}

function createGet(
  settings: ProviderSettings,
  { send }: ProviderHttp,
  tokens: Tokens,
): ProfileSources['get'] {
  const authorization = `${tokens.tokenType} ${tokens.accessToken}`
  return async (url, headers = {}) => {
    const init = { headers: { ...headers, authorization } }
    const reply = await send(atApi(settings, url), init).catch(noReplyAs('profile'))
    const body = parseResponseJson(reply.body)
    if (reply.ok && getErrorCode(body) === '' && typeof body === 'object' && body !== null) {
      return body
    }
    const providerMessage = quoted(reply.body, [tokens.accessToken, tokens.refreshToken])
    throw new ProviderError('profile', describeTokenResponse(reply), {
      isDown: isProviderDown(reply),
      providerMessage,
    })
  }
}

/** Parameters that a client may not set: they would redirect the code or replace our checks. */
const reserved = new Set([
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'state',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'request',
  'request_uri',
])

type Params = AuthorizationRequest['params']

/** Parameters of this server. */
const own = new Set(['provider', 'scopes', 'workos_provider'])

/** The query of the authorization URL (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect nonce). */
function newSecrets(flow: OAuth2Flow, { params }: AuthorizationRequest): FlowSecrets {
  return {
    ...(flow.pkce && { codeVerifier: generateRandomCodeVerifier() }),
    ...chooseNonce(flow, params),
  }
}

/** A client may send its own nonce; where it is passed on, the id_token must contain it. */
function chooseNonce({ nonce: isSupported, passthrough }: OAuth2Flow, params: Params): FlowSecrets {
  const own = params.nonce
  if (isSupported) return { nonce: own || generateRandomNonce() }
  return own && passthrough !== false ? { nonce: own } : {}
}

/** All parameters in alphabetical order. */
async function authorizationQuery(
  { clientIds, redirectUri }: ProviderSettings,
  flow: OAuth2Flow,
  request: AuthorizationRequest,
  secrets: FlowSecrets,
): Promise<URLSearchParams> {
  const scope = chooseScopes(flow, request.scopes).join(' ')
  const query = new URLSearchParams({
    ...(scope !== '' && { scope }),
    ...(flow.passthrough === false ? {} : passedOn(request.params, flow.withheld)),
    ...flow.params,
    ...(await protections(secrets)),
    client_id: clientIds[0] ?? '',
    redirect_uri: redirectUri,
    response_type: 'code',
    state: request.state,
  })
  query.sort()
  return query
}

/** Adds the query to a URL that may have one. */
function buildAuthorizationUrl(endpoint: string, query: URLSearchParams): URL {
  const url = URL.parse(endpoint)
  if (!url) throw new ProviderError('configuration', 'the authorization endpoint is no URL')
  url.search = [url.search.slice(1), query.toString()].filter(Boolean).join('&')
  return url
}

function chooseScopes(flow: OAuth2Flow, requested: readonly string[]): readonly string[] {
  if (flow.scopesFor) return flow.scopesFor(requested)
  return [...new Set([...flow.scopes, ...(flow.extraScopes === false ? [] : requested)])]
}

function passedOn(params: Params, withheld: readonly string[] = []): Record<string, string> {
  const kept = Object.entries(params).filter(
    ([name]) => !reserved.has(name.toLowerCase()) && !own.has(name) && !withheld.includes(name),
  )
  const workos = params.workos_provider
  return { ...Object.fromEntries(kept), ...(workos && { provider: workos }) }
}

async function protections({ codeVerifier, nonce }: FlowSecrets): Promise<Record<string, string>> {
  return {
    ...(nonce && { nonce }),
    ...(codeVerifier && {
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    }),
  }
}
