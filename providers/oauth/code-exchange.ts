/** The access token request (RFC 6749 §4.1.3) and client authentication (§2.3.1). */
import {
  type ClientAuth as Authenticate,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretPost,
  customFetch,
  nopkce,
  skipStateCheck,
  validateAuthResponse,
} from 'oauth4webapi'

import type { Reply } from '../core/http-types.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Callback, ProviderHttp, ProviderSettings, Tokens } from '../core/types.ts'
import { asText, getPath } from '../http/json.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, noReplyAs, parseResponseJson, readReply } from '../http/request.ts'
import type { ClientAuth, OAuth2Flow, ProviderEndpoints } from './types.ts'

/**
 * Returns a function that exchanges the code of a callback. Throws ProviderError code_exchange. It remembers the
 * accepted client authentication: a rejected one costs a request.
 */
export function createCodeExchange(
  settings: ProviderSettings,
  { request }: ProviderHttp,
  flow: OAuth2Flow,
): (callback: Callback) => Promise<Tokens> {
  let order = flow.clientAuth ?? ['basic', 'body']
  // A provider in the operator's network may use plain http.
  const options = { [customFetch]: request, [allowInsecureRequests]: true }

  return async (callback) => {
    const endpoints = await flow.endpoints(callback.now)
    const granted = checkCallback(flow, endpoints, callback)
    const { id, secret } = await createProviderClient(settings, flow, callback.now)
    const server = { issuer: endpoints.token, token_endpoint: endpoints.token }
    const verifier = (flow.pkce && callback.secrets.codeVerifier) || nopkce
    const send = (style: ClientAuth) =>
      authorizationCodeGrantRequest(
        server,
        { client_id: id },
        authentications[style](secret),
        granted,
        settings.redirectUri,
        verifier,
        options,
      )
    const rejections: Reply[] = []
    for (const style of order) {
      const requested = readReply(endpoints.token, () => send(style))
      const reply = await requested.catch(noReplyAs('code_exchange'))
      const tokens = readTokens(reply)
      if (tokens) {
        order = [style, ...order.filter((other) => other !== style)]
        return tokens
      }
      rejections.push(reply)
    }
    const sent = [secret, callback.params.code, callback.secrets.codeVerifier]
    const providerMessage = quoted(rejections.map(({ body }) => body).join(' | '), sent)
    throw new ProviderError('code_exchange', rejections.map(describeTokenResponse).join('; '), {
      // Some providers respond to an unknown client authentication with a server error.
      isDown: rejections.every(isProviderDown),
      providerMessage,
    })
  }
}

/** Throws ProviderError configuration when settings are missing. */
export async function createProviderClient(
  settings: ProviderSettings,
  flow: OAuth2Flow,
  now: Date,
) {
  const id = settings.clientIds[0]
  const secret = flow.clientSecret ? await flow.clientSecret(now) : settings.secret
  if (id && secret && settings.redirectUri) return { id, secret }
  throw new ProviderError('configuration', 'client id, secret or redirect URI is missing')
}

const authentications: Record<ClientAuth, (secret: string) => Authenticate> = {
  body: ClientSecretPost,
  /**
   * RFC 6749 §2.3.1: both parts are form-encoded. The library's ClientSecretBasic also encodes `-`, `.` and `_`, which
   * most ids contain, and some providers do not decode them.
   */
  basic: (secret) => (_server, client, _body, headers) => {
    const pair = [client.client_id, secret].map(formEncoded).join(':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  },
}

function formEncoded(value: string): string {
  return new URLSearchParams({ '': value }).toString().slice(1)
}

// Checks that a callback belongs to its flow (RFC 6749 §4.1.2, RFC 9207).

/** Returns the callback parameters for the token request. Throws ProviderError callback, no_verifier. */
function checkCallback(
  flow: OAuth2Flow,
  { issuer, namesIssuer = false }: ProviderEndpoints,
  { params: { code, iss }, secrets }: Callback,
): URLSearchParams {
  // A check that was set up at the start is required.
  const isOurs = !secrets.startedByGotrue
  if (isOurs && flow.pkce && !secrets.codeVerifier) {
    throw new ProviderError('no_verifier', 'the flow has no code verifier')
  }
  if (isOurs && flow.nonce && !secrets.nonce) throw reject('the flow has no nonce')
  if (!code) throw reject('the callback has no code')
  // `iss` cannot be checked without a known issuer.
  const query = new URLSearchParams({ code, ...(issuer && iss !== undefined && { iss }) })
  const server = {
    issuer: issuer ?? 'unknown',
    authorization_response_iss_parameter_supported: namesIssuer,
  }
  try {
    // The state was checked when the flow was looked up by it.
    return validateAuthResponse(server, { client_id: 'any' }, query, skipStateCheck)
  } catch {
    throw reject('the callback has another issuer, or none')
  }
}

function reject(why: string) {
  return new ProviderError('callback', why)
}

/**
 * Returns the tokens of a response (RFC 6749 §5), or undefined for an error. Providers send JSON or a form, errors with
 * status 200, no token_type, a list of scopes, any content type: the parser of oauth4webapi is strict and would reject
 * providers in use.
 */
function readTokens(reply: Reply): Tokens | undefined {
  const body = parseBody(reply)
  const accessToken = asText(getPath(body, 'access_token'))
  const error = getErrorCode(body)
  if (reply.ok && error === '' && accessToken !== '') {
    return {
      accessToken,
      tokenType: tokenType(asText(getPath(body, 'token_type'))),
      refreshToken: asText(getPath(body, 'refresh_token')),
      idToken: asText(getPath(body, 'id_token')),
      reply: body,
    }
  }
  return undefined
}

/** Returns the error code of a body with any status; '' without an error. */
export function getErrorCode(body: unknown): string {
  const error = getPath(body, 'error')
  if (error === undefined || error === null || error === false || error === '') return ''
  const code = asText(error) || asText(getPath(error, 'code')) || asText(getPath(error, 'type'))
  // Only error codes are logged: a description may repeat the client secret.
  return /^[\w .-]{1,60}$/.test(code) ? code : 'error'
}

/** Describes a response without its content, except for the error code. */
export function describeTokenResponse(reply: Reply): string {
  const error = getErrorCode(parseBody(reply))
  const rest = error || `${reply.contentType || 'untyped'}, ${reply.body.length} characters`
  return `${reply.address}: status ${reply.status}, ${rest}`
}

/** GitHub and some self-hosted servers respond with a form. The content type of either may be any, or missing. */
function parseBody({ body }: Reply): unknown {
  return parseResponseJson(body) ?? Object.fromEntries(new URLSearchParams(body))
}

/** The type is case-insensitive (RFC 6749 §7.1), but some APIs compare it exactly. */
function tokenType(type: string): string {
  return type === '' || type.toLowerCase() === 'bearer' ? 'Bearer' : type
}
