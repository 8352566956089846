/** The query of the authorization URL (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect nonce). */
import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
} from 'oauth4webapi'

import { ProviderError } from '../core/provider-error.ts'
import type { AuthorizationRequest, FlowSecrets, ProviderSettings } from '../core/types.ts'
import type { OAuth2Flow } from './types.ts'

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

export function newSecrets(flow: OAuth2Flow, { params }: AuthorizationRequest): FlowSecrets {
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
export async function authorizationQuery(
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
export function buildAuthorizationUrl(endpoint: string, query: URLSearchParams): URL {
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
