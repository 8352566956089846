/** The access token request (RFC 6749 §4.1.3) and client authentication (§2.3.1). */
import { NoReply, type Reply } from './http.ts'
import type { ClientAuth, OAuth2Flow } from './oauth2.ts'
import { type Callback, ProviderError, type ProviderSettings } from './provider.ts'
import { readTokens, type Tokens } from './token-reply.ts'
import type { Upstream } from './upstream.ts'

interface Client {
  id: string
  secret: string
}

/**
 * A function that turns the code of a callback into tokens. Throws ProviderError code_exchange.
 * It remembers which client authentication worked: the wrong one costs every sign-in a request.
 */
export function createCodeExchange(
  settings: ProviderSettings,
  { send }: Upstream,
  flow: OAuth2Flow,
): (callback: Callback) => Promise<Tokens> {
  let order = flow.clientAuth ?? ['basic', 'body']

  return async (callback) => {
    const { token } = await flow.endpoints(callback.now)
    const form = tokenForm(settings, flow, callback)
    const client = await clientOf(settings, flow, callback.now)
    const refusals: string[] = []
    for (const style of order) {
      const reply = await attempt(() => send(token, tokenRequest(form, client, style)))
      const tokens = readTokens(reply)
      if (typeof tokens === 'object') {
        order = [style, ...order.filter((other) => other !== style)]
        return tokens
      }
      refusals.push(tokens)
    }
    throw new ProviderError('code_exchange', refusals.join('; '))
  }
}

function tokenForm(settings: ProviderSettings, flow: OAuth2Flow, { params, secrets }: Callback) {
  if (!params.code) throw new ProviderError('callback', 'the callback has no code')
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: params.code,
    redirect_uri: settings.redirectUri,
  })
  if (flow.pkce && secrets.codeVerifier) form.set('code_verifier', secrets.codeVerifier)
  return form
}

/** Throws ProviderError configuration when the operator has not entered enough to sign in. */
export async function clientOf(
  settings: ProviderSettings,
  flow: OAuth2Flow,
  now: Date,
): Promise<Client> {
  const id = settings.clientIds[0]
  const secret = flow.clientSecret ? await flow.clientSecret(now) : settings.secret
  if (id && secret && settings.redirectUri) return { id, secret }
  throw new ProviderError('configuration', 'client id, secret or redirect URI is missing')
}

function tokenRequest(form: URLSearchParams, client: Client, style: ClientAuth): RequestInit {
  const body = new URLSearchParams(form)
  if (style === 'basic') return { method: 'POST', body, headers: { authorization: basic(client) } }
  body.set('client_id', client.id)
  body.set('client_secret', client.secret)
  return { method: 'POST', body }
}

/** RFC 6749 §2.3.1: both parts are form-encoded before they are joined. */
function basic({ id, secret }: Client): string {
  const pair = [id, secret].map((part) => new URLSearchParams({ '': part }).toString().slice(1))
  return `Basic ${Buffer.from(pair.join(':')).toString('base64')}`
}

async function attempt(request: () => Promise<Reply>): Promise<Reply> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof NoReply) throw new ProviderError('code_exchange', error.message)
    throw error
  }
}
