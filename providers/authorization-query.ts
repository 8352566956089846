/** The query of the authorization URL (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect nonce). */
import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
} from 'oauth4webapi'

import type { OAuth2Flow } from './oauth2.ts'
import {
  type AuthorizationRequest,
  type FlowSecrets,
  ProviderError,
  type ProviderSettings,
} from './provider.ts'

/** What a client may not set: it would redirect the code, replace our checks, or hide both. */
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

/** Ours, not the provider's. */
const own = new Set(['provider', 'scopes', 'workos_provider'])

export function newSecrets(flow: OAuth2Flow, { params }: AuthorizationRequest): FlowSecrets {
  return {
    ...(flow.pkce && { codeVerifier: generateRandomCodeVerifier() }),
    ...nonceOf(flow, params),
  }
}

/** A client may bring its own nonce; wherever that is sent on, the id_token must carry it. */
function nonceOf({ nonce: isSupported, passthrough }: OAuth2Flow, params: Params): FlowSecrets {
  const own = params.nonce
  if (isSupported) return { nonce: own || generateRandomNonce() }
  return own && passthrough !== false ? { nonce: own } : {}
}

/** All parameters in alphabetical order. */
export async function authorizationQuery(
  { clientIds, redirectUri }: ProviderSettings,
  flow: OAuth2Flow,
  request: AuthorizationRequest,
  secrets: FlowSecrets,
): Promise<URLSearchParams> {
  const extra = flow.extraScopes === false ? [] : request.scopes
  const scope = [...new Set([...flow.scopes, ...extra])].join(' ')
  const query = new URLSearchParams({
    ...(scope !== '' && { scope }),
    ...(flow.passthrough === false ? {} : passedOn(request.params)),
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

/** The URL with the query added to the one it may have. */
export function withQuery(endpoint: string, query: URLSearchParams): URL {
  const url = URL.parse(endpoint)
  if (!url) throw new ProviderError('configuration', 'the authorization endpoint is no URL')
  url.search = [url.search.slice(1), query.toString()].filter(Boolean).join('&')
  return url
}

function passedOn(params: Params): Record<string, string> {
  const kept = Object.entries(params).filter(
    ([name]) => !reserved.has(name.toLowerCase()) && !own.has(name),
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
