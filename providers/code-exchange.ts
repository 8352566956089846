/** The access token request (RFC 6749 §4.1.3) and client authentication (§2.3.1). */
import {
  type ClientAuth as Authenticate,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretPost,
  customFetch,
  nopkce,
} from 'oauth4webapi'

import { checkCallback } from './callback.ts'
import { isDown, type Reply, readReply } from './http.ts'
import { noReplyAs } from './no-reply.ts'
import type { ClientAuth, OAuth2Flow } from './oauth2.ts'
import { type Callback, ProviderError, type ProviderSettings } from './provider.ts'
import { quoted } from './said.ts'
import { describe, readTokens, type Tokens } from './token-reply.ts'
import type { Upstream } from './upstream.ts'

/**
 * A function that turns the code of a callback into tokens. Throws ProviderError code_exchange.
 * It remembers which client authentication worked: the wrong one costs every sign-in a request.
 */
export function createCodeExchange(
  settings: ProviderSettings,
  { request }: Upstream,
  flow: OAuth2Flow,
): (callback: Callback) => Promise<Tokens> {
  let order = flow.clientAuth ?? ['basic', 'body']
  // A provider in the operator's own network may use plain http.
  const options = { [customFetch]: request, [allowInsecureRequests]: true }

  return async (callback) => {
    const endpoints = await flow.endpoints(callback.now)
    const granted = checkCallback(flow, endpoints, callback)
    const { id, secret } = await clientOf(settings, flow, callback.now)
    const server = { issuer: endpoints.token, token_endpoint: endpoints.token }
    const verifier = (flow.pkce && callback.secrets.codeVerifier) || nopkce
    const ask = (style: ClientAuth) =>
      authorizationCodeGrantRequest(
        server,
        { client_id: id },
        authentications[style](secret),
        granted,
        settings.redirectUri,
        verifier,
        options,
      )
    const refusals: Reply[] = []
    for (const style of order) {
      const asked = readReply(endpoints.token, () => ask(style))
      const reply = await asked.catch(noReplyAs('code_exchange'))
      const tokens = readTokens(reply)
      if (tokens) {
        order = [style, ...order.filter((other) => other !== style)]
        return tokens
      }
      refusals.push(reply)
    }
    const sent = [secret, callback.params.code, callback.secrets.codeVerifier]
    const said = quoted(refusals.map(({ body }) => body).join(' | '), sent)
    throw new ProviderError('code_exchange', refusals.map(describe).join('; '), {
      // Some answer like a broken server when a client authenticates in the way they do not know.
      isDown: refusals.every(isDown),
      said,
    })
  }
}

/** Throws ProviderError configuration when the operator has not entered enough to sign in. */
export async function clientOf(settings: ProviderSettings, flow: OAuth2Flow, now: Date) {
  const id = settings.clientIds[0]
  const secret = flow.clientSecret ? await flow.clientSecret(now) : settings.secret
  if (id && secret && settings.redirectUri) return { id, secret }
  throw new ProviderError('configuration', 'client id, secret or redirect URI is missing')
}

const authentications: Record<ClientAuth, (secret: string) => Authenticate> = {
  body: ClientSecretPost,
  /**
   * RFC 6749 §2.3.1: both parts are form-encoded before they are joined. The library's own ClientSecretBasic also
   * encodes `-`, `.` and `_`, which most ids have, and providers that do not decode would not know them.
   */
  basic: (secret) => (_server, client, _body, headers) => {
    const pair = [client.client_id, secret].map(formEncoded).join(':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  },
}

function formEncoded(value: string): string {
  return new URLSearchParams({ '': value }).toString().slice(1)
}
