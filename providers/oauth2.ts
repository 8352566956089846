/** The authorization code flow (RFC 6749 §4.1) with PKCE (RFC 7636), as most providers speak it. */

import { authorizationQuery, newSecrets, withQuery } from './authorization-query.ts'
import { clientOf, createCodeExchange } from './code-exchange.ts'
import { NoReply, parseJson } from './http.ts'
import { toIdentity } from './identity.ts'
import {
  type Callback,
  type Profile,
  type Provider,
  ProviderError,
  type ProviderSettings,
} from './provider.ts'
import { describe, errorOf, type Tokens } from './token-reply.ts'
import type { Upstream } from './upstream.ts'

export interface Endpoints {
  authorize: string
  token: string
}

/** What a profile is read from: the tokens, the callback, and the provider's API. */
export interface Grant {
  tokens: Tokens
  callback: Callback
  /** GET with the access token. Throws ProviderError profile unless it is JSON and no error. */
  get(url: string, headers?: Record<string, string>): Promise<unknown>
}

export interface OAuth2Flow {
  endpoints(now: Date): Endpoints | Promise<Endpoints>
  scopes: readonly string[]
  profile(grant: Grant): Profile | Promise<Profile>
  /** Protections of ours that the provider knows how to honour. */
  pkce?: boolean
  nonce?: boolean
  /** False: scopes or parameters of the client are not passed on. */
  extraScopes?: boolean
  passthrough?: boolean
  /** Fixed parameters of the authorization URL. */
  params?: Readonly<Record<string, string>>
  /** Client authentication in the order it is tried; HTTP Basic, then in the body. */
  clientAuth?: readonly ClientAuth[]
  /** A client secret that is made when needed, instead of the configured one. */
  clientSecret?(now: Date): Promise<string>
  /** Whether an `iss` in the callback is this provider's own (RFC 9207: mix-up defence). */
  acceptsIssuer?(issuer: string): boolean
}

export type ClientAuth = 'basic' | 'body'

export function oauth2Provider(
  settings: ProviderSettings,
  upstream: Upstream,
  flow: OAuth2Flow,
): Provider {
  const exchange = createCodeExchange(settings, upstream, flow)

  return {
    async authorizationUrl(request) {
      await clientOf(settings, flow, request.now)
      const { authorize } = await flow.endpoints(request.now)
      const secrets = newSecrets(flow, request)
      const query = authorizationQuery(settings, flow, request, secrets)
      return { url: withQuery(authorize, query), secrets }
    },

    async identity(callback) {
      checkCallback(flow, callback)
      const tokens = await exchange(callback)
      const get = createGet(upstream, tokens)
      return toIdentity(await flow.profile({ tokens, callback, get }), tokens)
    },
  }
}

/** A flow begun with a protection is not finished without it. */
function checkCallback(flow: OAuth2Flow, { params, secrets }: Callback) {
  if (flow.pkce && !secrets.codeVerifier) throw lacking('code verifier')
  if (flow.nonce && !secrets.nonce) throw lacking('nonce')
  if (params.iss === undefined || flow.acceptsIssuer === undefined) return
  if (!flow.acceptsIssuer(params.iss)) {
    throw new ProviderError('callback', 'the callback names another issuer')
  }
}

function lacking(what: string) {
  return new ProviderError('callback', `the flow has no ${what}`)
}

function createGet({ send }: Upstream, tokens: Tokens): Grant['get'] {
  const authorization = `${tokens.tokenType} ${tokens.accessToken}`
  return async (url, headers = {}) => {
    try {
      const reply = await send(url, { headers: { ...headers, authorization } })
      const body = parseJson(reply.body)
      const error = errorOf(body)
      if (reply.ok && error === '' && typeof body === 'object' && body !== null) return body
      throw new ProviderError('profile', `${reply.place}: ${describe(reply, error)}`)
    } catch (error) {
      if (error instanceof NoReply) throw new ProviderError('profile', error.message)
      throw error
    }
  }
}
