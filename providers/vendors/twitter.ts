/** OAuth 1.0a (RFC 5849), which only this provider uses. */
import type { Send } from '../core/http-types.ts'
import { email, toProfileNames, toProviderIdentity } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { ProviderError, type ProviderErrorKind } from '../core/provider-error.ts'
import type { Callback, Profile, ProviderSettings } from '../core/types.ts'
import { atApi, baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, noReplyAs, parseResponseJson } from '../http/request.ts'
import { describeTokenResponse } from '../oauth/code-exchange.ts'
import { oauth1Header } from '../oauth/oauth1.ts'
import { sameText } from '../oidc/constant-time.ts'

interface Token {
  token: string
  secret: string
}

export const twitter: NamedProviderDefinition = {
  name: 'X (Twitter)',
  docs: {
    title: 'Twitter (OAuth 1.0a)',
    register: 'https://developer.x.com/en/portal/projects-and-apps',
    steps: [
      'In "User authentication settings" choose "Web App", add the redirect URI, and turn "Request email from users" on.',
      'Client id and secret are the API key and the API key secret of "Consumer Keys".',
    ],
    scopes: 'none',
    url: 'replaces api.twitter.com',
    notes: ['Scopes and further parameters are ignored.', 'Prefer x (OAuth 2) for new projects.'],
  },

  create(settings, { send }) {
    const api = baseUrl(settings, 'https://api.twitter.com')
    return {
      async authorizationUrl({ state, now }) {
        const oauth_callback = withState(settings.redirectUri, state)
        const address = `${api}/oauth/request_token`
        const request = { settings, send, now, fault: 'request_token' as const }
        const none = { token: '', secret: '' }
        const { token, secret } = await fetchToken(request, address, none, { oauth_callback })
        const url = new URL(
          `${api}/oauth/authenticate?${new URLSearchParams({ oauth_token: token })}`,
        )
        return { url, secrets: { requestToken: token, requestTokenSecret: secret } }
      },

      async identity(callback) {
        const request = { settings, send, now: callback.now, fault: 'code_exchange' as const }
        const { token, oauth_verifier } = readCallback(callback)
        const address = `${api}/oauth/access_token`
        const access = await fetchToken(request, address, token, { oauth_verifier })
        const iss = `${api}/1.1/account/verify_credentials.json`
        const query = 'include_email=true&include_entities=false&skip_status=true'
        const body = await signedGet(
          { ...request, fault: 'profile' },
          atApi(settings, `${iss}?${query}`),
          access,
        )
        const tokens = { accessToken: access.token, refreshToken: '', idToken: '' }
        const profile = toProfile(parseResponseJson(body), iss)
        return toProviderIdentity(profile, { ...tokens, tokenType: '', reply: undefined })
      },
    }
  },
}

interface Request {
  settings: ProviderSettings
  send: Send
  now: Date
  fault: ProviderErrorKind
}

async function fetchToken(
  request: Request,
  url: string,
  signing: Token,
  params: Record<string, string>,
): Promise<Token> {
  const form = new URLSearchParams(await signedGet(request, url, signing, params))
  const [token, secret] = [form.get('oauth_token'), form.get('oauth_token_secret')]
  if (token && secret !== null) return { token, secret }
  throw new ProviderError(request.fault, 'the response has no token')
}

async function signedGet(
  { settings, send, now, fault }: Request,
  url: string,
  { token, secret: tokenSecret }: Token,
  params: Record<string, string> = {},
): Promise<string> {
  const consumerKey = settings.clientIds[0]
  const consumerSecret = settings.secret
  if (!consumerKey || !consumerSecret) throw new ProviderError('configuration', 'no key or secret')
  const signed = { url, consumerKey, consumerSecret, token, tokenSecret, params, now }
  const init = { headers: { authorization: oauth1Header(signed) } }
  const reply = await send(url, init).catch(noReplyAs(fault))
  if (reply.ok) return reply.body
  const sent = [consumerSecret, token, tokenSecret, params.oauth_verifier]
  const providerMessage = quoted(reply.body, sent)
  throw new ProviderError(fault, describeTokenResponse(reply), {
    isDown: isProviderDown(reply),
    providerMessage,
  })
}

function readCallback({ params, secrets }: Callback) {
  const { denied, oauth_token: token, oauth_verifier } = params
  if (denied) throw new ProviderError('code_exchange', 'the user declined')
  if (!token || !oauth_verifier) throw new ProviderError('callback', 'no token or verifier')
  // A token of another flow would sign the user in as the attacker (login CSRF).
  if (!sameText(token, secrets.requestToken ?? '')) {
    throw new ProviderError('callback', 'the callback belongs to another flow')
  }
  return { token: { token, secret: secrets.requestTokenSecret ?? '' }, oauth_verifier }
}

function withState(redirectUri: string, state: string): string {
  const url = URL.parse(redirectUri)
  if (!url) throw new ProviderError('configuration', 'the redirect URI is not a URL')
  url.searchParams.set('state', state)
  return url.href
}

function toProfile(user: unknown, iss: string): Profile {
  const id = asText(getPath(user, 'id_str'))
  const login = asText(getPath(user, 'screen_name'))
  const picture = asText(getPath(user, 'profile_image_url_https'))
  const names = { preferred_username: login, user_name: login }
  return {
    sub: id,
    claims: { ...toProfileNames(id, asText(getPath(user, 'name')), picture), ...names, iss },
    emails: email(asText(getPath(user, 'email')), { verified: true }),
  }
}
