/** The authorization code flow (RFC 6749 §4.1) with PKCE (RFC 7636), as most providers implement it. */
import { authorizationQuery, newSecrets, withQuery } from './authorization-query.ts'
import { atApi } from './base-url.ts'
import { clientOf, createCodeExchange } from './code-exchange.ts'
import { isDown, parseJson } from './http.ts'
import { toIdentity } from './identity.ts'
import { noReplyAs } from './no-reply.ts'
import {
  type Callback,
  type Profile,
  type Provider,
  ProviderError,
  type ProviderSettings,
} from './provider.ts'
import { quoted } from './said.ts'
import { describe, errorOf, type Tokens } from './token-reply.ts'
import type { Upstream } from './upstream.ts'

export interface Endpoints {
  authorize: string
  token: string
  /** The `iss` of the provider's callbacks (RFC 9207: mix-up defence), where it is known. */
  issuer?: string
  /** The provider promises an `iss` in every callback. */
  namesIssuer?: boolean
}

/** What a profile is read from: the tokens, the callback and the provider's API. */
export interface Grant {
  tokens: Tokens
  callback: Callback
  /** GET with the access token. Throws ProviderError profile unless it is JSON and no error. */
  get(url: string, headers?: Record<string, string>): Promise<unknown>
}

export interface OAuth2Flow {
  /** Newer ones than are known are waited for `patienceMs` at most. */
  endpoints(now: Date, patienceMs?: number): Endpoints | Promise<Endpoints>
  scopes: readonly string[]
  profile(grant: Grant): Profile | Promise<Profile>
  /** Whether the provider supports PKCE, and a nonce in its id_token. */
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
      // The browser is sent on at once wherever an address is known, however old.
      const { authorize } = await flow.endpoints(request.now, 0)
      const secrets = newSecrets(flow, request)
      const query = await authorizationQuery(settings, flow, request, secrets)
      return { url: withQuery(authorize, query), secrets }
    },

    async identity(callback) {
      const tokens = await exchange(callback)
      const get = createGet(settings, upstream, tokens)
      return toIdentity(await flow.profile({ tokens, callback, get }), tokens)
    },
  }
}

function createGet(settings: ProviderSettings, { send }: Upstream, tokens: Tokens): Grant['get'] {
  const authorization = `${tokens.tokenType} ${tokens.accessToken}`
  return async (url, headers = {}) => {
    const init = { headers: { ...headers, authorization } }
    const reply = await send(atApi(settings, url), init).catch(noReplyAs('profile'))
    const body = parseJson(reply.body)
    if (reply.ok && errorOf(body) === '' && typeof body === 'object' && body !== null) return body
    const said = quoted(reply.body, [tokens.accessToken, tokens.refreshToken])
    throw new ProviderError('profile', describe(reply), { isDown: isDown(reply), said })
  }
}
