/**
 * A provider on loopback that holds every request against the provider's documentation. What
 * differs is refused and noted in `complaints`, so a test that asserts there are none proves that
 * method, path, client authentication, form and headers were right.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import type { Ending } from '../ending.ts'
import { serve } from '../listening.ts'
import { signIdToken, signing } from './keys.ts'

/** What a provider's documentation says of the code flow. Paths are below the one origin. */
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
  idToken?: { issuer: string; claims?: Record<string, unknown> }
  /** The API: path with query, further headers, reply. */
  api: Record<string, { headers?: Record<string, string>; body: unknown }>
  /** Apple: the callback is a form that the browser posts, with this user. */
  posted?: string
}

export interface Answer {
  status?: number
  type?: string
  location?: string
  body: string
}

export const client = {
  id: 'client 1',
  secret: 's:ecret/+1',
  redirectUri: 'http://app.test/callback',
}

export type FakeProvider = Awaited<ReturnType<typeof startFakeProvider>>

/** `named`: the issuer to claim instead of the own address. */
export async function startFakeProvider(t: Ending, documented: Documented, named?: string) {
  const complaints: string[] = []
  const requests: string[] = []
  /** Other answers by path: an error, a page, or nothing at all. */
  const instead = new Map<string, Answer | 'silence'>()
  const issued = new Map<string, { challenge: string | null; nonce: string | null }>()

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      complaints.push(
        `${request.method} ${request.url}: ${error instanceof Error ? error.message : ''}`,
      )
      send(response, { status: 400, body: JSON.stringify({ error: 'invalid_request' }) })
    })
  })
  const origin = `http://127.0.0.1:${await serve(t, server)}`
  const issuer = named ?? origin + (documented.idToken?.issuer ?? '')
  const discovery = `${documented.idToken?.issuer}/.well-known/openid-configuration`

  async function answer(request: IncomingMessage, response: ServerResponse) {
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
      client_id: client.id,
      redirect_uri: client.redirectUri,
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
      return send(response, { type: 'text/html', body: formPage(client.redirectUri, fields) })
    }
    const back = new URL(client.redirectUri)
    back.search = new URLSearchParams({ state, code }).toString()
    response.writeHead(302, { location: back.href }).end()
  }

  async function token(request: IncomingMessage, response: ServerResponse) {
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)))
    if (documented.clientAuth === 'body' && request.headers.authorization !== undefined) {
      return send(response, { status: 401, body: JSON.stringify({ error: 'invalid_client' }) })
    }
    const { code = '', code_verifier, ...rest } = form
    const grant = issued.get(code)
    checkTokenRequest(request, rest, documented)
    assert.ok(grant, 'unknown code')
    issued.delete(code)
    assert.equal(code_verifier === undefined ? null : challengeOf(code_verifier), grant.challenge)
    const reply = {
      ...{ access_token: 'at1', token_type: 'bearer', expires_in: '3600', refresh_token: 'rt1' },
      ...documented.tokenReply,
      ...(documented.idToken?.claims && { id_token: await idToken(grant.nonce) }),
    }
    if (!documented.form) return send(response, { body: JSON.stringify(reply) })
    const type = 'application/x-www-form-urlencoded; charset=utf-8'
    send(response, { type, body: new URLSearchParams(reply).toString() })
  }

  function idToken(nonce: string | null) {
    const claims = { iss: issuer, aud: client.id, ...(nonce && { nonce }) }
    return signIdToken({ ...claims, ...documented.idToken?.claims }, new Date())
  }

  function api(request: IncomingMessage, url: URL, response: ServerResponse) {
    const path = decodeURIComponent(url.pathname + url.search)
    const call = documented.api[path]
    assert.ok(call, 'not a documented request')
    assert.equal(request.method, 'GET')
    assert.equal(request.headers.authorization, 'Bearer at1')
    assert.equal(request.headers['user-agent'], 'Postern')
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      assert.equal(request.headers[name], value, name)
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

  return { origin, issuer, complaints, requests, instead }
}

function checkTokenRequest(
  request: IncomingMessage,
  form: Record<string, string>,
  { clientAuth }: Documented,
) {
  assert.equal(request.method, 'POST')
  assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
  assert.equal(request.headers['user-agent'], 'Postern')
  const inBody = { client_id: client.id, client_secret: client.secret }
  assert.deepEqual(form, {
    grant_type: 'authorization_code',
    redirect_uri: client.redirectUri,
    ...(clientAuth === 'body' && inBody),
  })
  // RFC 6749 §2.3.1: both parts form-encoded.
  const pair = Buffer.from('client+1:s%3Aecret%2F%2B1').toString('base64')
  assert.equal(request.headers.authorization, clientAuth === 'basic' ? `Basic ${pair}` : undefined)
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

function formPage(action: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${name}" value="${value.replaceAll('"', '&quot;')}">`,
  )
  return `<form method="post" action="${action}">${inputs.join('')}</form>`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, answer: Answer) {
  const { status = 200, type = 'application/json', location, body } = answer
  response.writeHead(status, { 'content-type': type, ...(location && { location }) }).end(body)
}
