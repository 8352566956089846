/**
 * A provider on loopback that checks each request against the provider’s documentation. Deviations are rejected and
 * recorded in `deviations`, so asserting that there are none verifies method, path, client authentication, form and
 * headers.
 */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Ending } from '../processes/ending.ts'
import { serve } from '../processes/listening.ts'
import { signByHs256, signIdToken, signing } from './keys.ts'
import { createServer } from './tls.ts'

/** The documented code flow. Paths are relative to the one origin. */
export interface Documented {
  authorize: string
  scope: string
  /** Fixed parameters beyond those of RFC 6749. */
  params?: Record<string, string>
  pkce?: boolean
  nonce?: boolean
  token: string
  clientAuth: 'basic' | 'body'
  tokenReply?: Record<string, unknown>
  /** The token reply as a form. */
  form?: boolean
  /** `issuer` is the path of the issuer; without claims the reply has no id_token. */
  idToken?: { issuer: string; claims?: Record<string, unknown>; signed?: 'by the client secret' }
  /**
   * The API: path with query, further headers, reply. `{appsecret_proof}` stands for Facebook’s proof, `{client_id}`
   * for the registered id.
   */
  api: Record<string, { headers?: Record<string, string>; body: unknown }>
  https?: boolean
  /** Apple: the callback is a form that the browser posts, with this user. */
  posted?: string
}

export interface Response {
  status?: number
  type?: string
  location?: string
  body: string
}

/** What the operator registers with a provider. */
export interface Registration {
  id: string
  secret: string
  redirectUri: string
}

export const client: Registration = {
  id: 'client 1',
  secret: 's:ecret/+1',
  redirectUri: 'http://app.test/callback',
}

/** Of a provider that has a redirect URI of its own. */
export const ownRedirectUri = (provider: string): string =>
  new URL(`/providers/${provider}/callback`, client.redirectUri).href

export type FakeProvider = Awaited<ReturnType<typeof startFakeProvider>>

/** `named`: the issuer to claim instead of the own address. A test may change what is `registered`. */
export async function startFakeProvider(
  t: Ending,
  documented: Documented,
  named?: string,
  registered: Registration = { ...client },
) {
  const deviations: string[] = []
  const requests: string[] = []
  /** Other responses by path: an error, a page, or nothing at all. */
  const instead = new Map<string, Response | 'silence'>()
  const issued = new Map<string, { challenge: string | null; nonce: string | null }>()

  const { https = false } = documented
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    respond(request, response).catch((error: unknown) => {
      deviations.push(
        `${request.method} ${request.url}: ${error instanceof Error ? error.message : ''}`,
      )
      send(response, { status: 400, body: JSON.stringify({ error: 'invalid_request' }) })
    })
  }
  const server = createServer(listener, { https })
  const origin = `${https ? 'https' : 'http'}://127.0.0.1:${await serve(t, server)}`
  const issuer = named ?? origin + (documented.idToken?.issuer ?? '')
  const discovery = `${documented.idToken?.issuer}/.well-known/openid-configuration`

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', origin)
    requests.push(`${request.method} ${url.pathname}`)
    const other = instead.get(url.pathname)
    if (other === 'silence') return
    if (other) return send(response, other)
    if (url.pathname === documented.authorize) return authorize(request, url, response)
    if (url.pathname === documented.token) return token(request, response)
    if (url.pathname === discovery) {
      return send(response, { body: JSON.stringify(metadata()) })
    }
    if (url.pathname === '/jwks') {
      return send(response, { body: JSON.stringify({ keys: [signing.jwk] }) })
    }
    return api(request, url, response)
  }

  function authorize(request: IncomingMessage, url: URL, response: ServerResponse) {
    const { state, code_challenge, nonce, ...query } = Object.fromEntries(url.searchParams)
    assert.equal(request.method, 'GET')
    assert.deepEqual(query, {
      client_id: registered.id,
      redirect_uri: registered.redirectUri,
      response_type: 'code',
      ...(documented.scope !== '' && { scope: documented.scope }),
      ...documented.params,
      ...(documented.pkce && { code_challenge_method: 'S256' }),
    })
    assert.deepEqual([...url.searchParams.keys()], [...url.searchParams.keys()].toSorted())
    assert.ok(state, 'state')
    assert.equal(code_challenge?.length, documented.pkce ? 43 : undefined, 'code_challenge')
    assert.equal(nonce !== undefined, documented.nonce === true, 'nonce')
    const code = `code-${issued.size + 1}`
    issued.set(code, { challenge: code_challenge ?? null, nonce: nonce ?? null })
    if (documented.posted !== undefined) {
      const fields = { state, code, user: documented.posted }
      return send(response, { type: 'text/html', body: formPage(registered.redirectUri, fields) })
    }
    const back = new URL(registered.redirectUri)
    back.search = new URLSearchParams({ state, code }).toString()
    response.writeHead(302, { location: back.href }).end()
  }

  async function token(request: IncomingMessage, response: ServerResponse) {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)))
    if (documented.clientAuth === 'body' && request.headers.authorization !== undefined) {
      return send(response, { status: 401, body: JSON.stringify({ error: 'invalid_client' }) })
    }
    const { code = '', code_verifier, ...rest } = form
    const grant = issued.get(code)
    checkTokenRequest(request, rest, documented, registered)
    assert.ok(grant, 'unknown code')
    issued.delete(code)
    assert.equal(
      code_verifier === undefined ? null : computeChallenge(code_verifier),
      grant.challenge,
    )
    const reply = {
      access_token: 'at1',
      token_type: 'bearer',
      expires_in: '3600',
      refresh_token: 'rt1',
      ...documented.tokenReply,
      ...(documented.idToken?.claims && { id_token: await idToken(grant.nonce) }),
    }
    if (!documented.form) return send(response, { body: JSON.stringify(reply) })
    const type = 'application/x-www-form-urlencoded; charset=utf-8'
    send(response, { type, body: new URLSearchParams(reply).toString() })
  }

  function idToken(nonce: string | null) {
    const claims = { iss: issuer, aud: registered.id, ...(nonce && { nonce }) }
    const all = { ...claims, ...documented.idToken?.claims }
    return documented.idToken?.signed
      ? signByHs256(all, registered.secret)
      : signIdToken(all, new Date())
  }

  function api(request: IncomingMessage, url: URL, response: ServerResponse) {
    const path = decodeURIComponent(url.pathname + url.search)
    const secretVerification = computeVerification(registered.secret)
    const call = documented.api[path.replace(secretVerification, '{appsecret_proof}')]
    assert.ok(call, 'not a documented request')
    assert.equal(request.method, 'GET')
    assert.equal(request.headers.authorization, 'Bearer at1')
    assert.equal(request.headers['user-agent'], 'Postern')
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      assert.equal(request.headers[name], value.replace('{client_id}', registered.id), name)
    }
    send(response, { body: JSON.stringify(call.body) })
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: origin + documented.authorize,
    token_endpoint: origin + documented.token,
    jwks_uri: `${origin}/jwks`,
    userinfo_endpoint: `${origin}/userinfo`,
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  })

  return { origin, issuer, deviations, requests, instead, registered }
}

function checkTokenRequest(
  request: IncomingMessage,
  form: Record<string, string>,
  { clientAuth }: Documented,
  { id, secret, redirectUri }: Registration,
) {
  assert.equal(request.method, 'POST')
  assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
  assert.equal(request.headers['user-agent'], 'Postern')
  const inBody = { client_id: id, client_secret: secret }
  assert.deepEqual(form, {
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
    ...(clientAuth === 'body' && inBody),
  })
  // RFC 6749 §2.3.1: both parts form-encoded.
  const encoded = [id, secret].map((part) => encodeURIComponent(part).replaceAll('%20', '+'))
  const pair = Buffer.from(encoded.join(':')).toString('base64')
  assert.equal(request.headers.authorization, clientAuth === 'basic' ? `Basic ${pair}` : undefined)
}

/** https://developers.facebook.com/docs/graph-api/guides/secure-requests: of the access token, with the app secret. */
function computeVerification(secret: string): string {
  return createHmac('sha256', secret).update('at1').digest('hex')
}

function computeChallenge(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

function formPage(action: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${name}" value="${value.replaceAll('"', '&quot;')}">`,
  )
  return `<form method="post" action="${action}">${inputs.join('')}</form>`
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, reply: Response) {
  const { status = 200, type = 'application/json', location, body } = reply
  response.writeHead(status, { 'content-type': type, ...(location && { location }) }).end(body)
}
