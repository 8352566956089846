/** The authorization code flow (RFC 6749 §4.1) with PKCE (RFC 7636), as most providers implement it. */
import { toProviderIdentity } from '../core/identity.ts'
import type { Provider } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { ProviderHttp, ProviderSettings, Tokens } from '../core/types.ts'
import { atApi } from '../http/base-url.ts'
import { noReplyAs } from '../http/no-response.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, parseResponseJson } from '../http/request.ts'
import { authorizationQuery, buildAuthorizationUrl, newSecrets } from './authorization-query.ts'
import { createCodeExchange, createProviderClient } from './code-exchange.ts'
import { describeTokenResponse, getErrorCode } from './token-response.ts'
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
