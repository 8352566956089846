/** HTTP: headers, CORS preflights, the prefix, and clients that are slow, send without end or send no HTTP. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

import pg from 'pg'

import { wrongVariables } from '../../config/environment.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { listeningPort } from '../../support/processes/listening.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { type BuildOptions, build } from '../../support/server.ts'
import { adminToken, confirmedUser } from '../../support/users.ts'

const webauthn = {
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: 'app.example',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: 'https://app.example',
}

const id = '11111111-1111-4111-8111-111111111111'
const withSlash = [
  ['POST', '/signup'],
  ['GET', '/verify'],
  ['GET', '/callback'],
  ['GET', '/user'],
  ['GET', '/reauthenticate'],
  ['POST', '/factors'],
  ['DELETE', `/factors/${id}`],
  ['GET', '/passkeys'],
  ['DELETE', `/passkeys/${id}`],
  ['GET', '/admin/audit'],
  ['GET', '/admin/users'],
  ['GET', `/admin/users/${id}`],
  ['GET', `/admin/users/${id}/factors`],
  ['DELETE', `/admin/users/${id}/factors/${id}`],
  ['GET', `/admin/users/${id}/passkeys`],
  ['DELETE', `/admin/users/${id}/passkeys/${id}`],
] as const

/** Responses of development mode for paths of other servers. */
const other = /^\/(rest|graphql|storage|realtime|functions)\//

suite('HTTP transport', () => {
  const server = shareServers(listen)

  test('responds to a preflight on each path and allows the headers of the SDKs', async (t) => {
    const { app } = await build(t, { env: { AUTH_CORS_ALLOWED_HEADERS: 'X-Own' } })
    for (const url of ['/token', '/auth/v1/user', '/no/such/path']) {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'apikey, authorization, x-client-info',
      }
      const response = await app.inject({ method: 'OPTIONS', url, headers })
      assert.equal(response.statusCode, 204)
      assert.equal(response.headers['access-control-allow-origin'], '*')
      assert.equal(response.headers['access-control-allow-credentials'], 'true')
      const list = (name: string) => String(response.headers[name]).toLowerCase().split(', ')
      for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
        assert.ok(list('access-control-allow-methods').includes(method))
      }
      for (const header of ['apikey', 'authorization', 'x-supabase-api-version', 'x-own']) {
        assert.ok(list('access-control-allow-headers').includes(header), header)
      }
      assert.ok(list('access-control-expose-headers').includes('x-supabase-api-version'))
      assert.match(String(response.headers.vary), /Origin/)
    }
  })

  test('serves paths under the prefix, and group paths with a trailing slash', async (t) => {
    const { app } = await server()
    for (const url of ['/auth/v1/health', '/health']) {
      assert.equal((await app.inject({ url })).statusCode, 200)
    }
    for (const url of ['/auth/v1/user/', '/user/', '/user/?a=b']) {
      assert.equal((await app.inject({ url })).json().error_code, 'no_authorization')
    }
    const moved = await build(t, { env: { AUTH_API_PREFIX: '/' } })
    assert.equal((await moved.app.inject({ url: '/auth/v1/health' })).statusCode, 404)
  })

  test('serves the paths that GoTrue serves with a trailing slash', async (t) => {
    const { app } = await build(t, { env: webauthn })
    const authorization = `Bearer ${await adminToken(app)}`
    for (const [method, url] of withSlash) {
      const send = async (path: string) => {
        const response = await app.inject({ method, url: path, headers: { authorization } })
        const { statusCode, body, headers } = response
        return { statusCode, body: body.replace(/"error_id":"[^"]*"/, ''), to: headers.location }
      }
      const plain = await send(url)
      assert.doesNotMatch(plain.body, /"not_found"/, `${method} ${url}`)
      assert.deepEqual(await send(`${url}/`), plain, `${method} ${url}/`)
      assert.deepEqual(await send(`/auth/v1${url}/?page=1`), plain, `${method} ${url}/`)
    }
    for (const url of ['/health/', '/settings/', '/admin/generate_link/']) {
      assert.equal((await app.inject({ url })).statusCode, 404, url)
    }
  })

  test('does not hide a path behind the prefix', async (t) => {
    for (const dev of [true, false]) {
      const { app } = dev ? await build(t, { dev }) : await server()
      const paths = app.openapi.routes.map(({ url }) => url)
      assert.ok(paths.includes('/admin/users'))
      const ours = paths.filter((path) => !other.test(path))
      for (const first of new Set(ours.map((path) => path.split('/')[1]))) {
        if (first === '') continue
        assert.deepEqual(wrongVariables({ AUTH_API_PREFIX: `/${first}/v1` }), ['AUTH_API_PREFIX'])
      }
    }
  })

  test('generates the request id unless AUTH_REQUEST_ID_HEADER names one', async (t) => {
    const { app } = await build(t, { env: { AUTH_REQUEST_ID_HEADER: 'X-Trace' } })
    const { app: plain } = await server()
    const own = /^[0-9a-f-]{36}$/
    const idFor = async (of: typeof app, headers: Record<string, string>) =>
      String((await of.inject({ url: '/health', headers })).headers['x-request-id'])
    assert.equal(await idFor(app, { 'x-trace': 'abc-1.2:3' }), 'abc-1.2:3')
    assert.match(await idFor(app, { 'x-trace': 'has "quotes"' }), own)
    assert.match(await idFor(app, { 'x-trace': 'x'.repeat(129) }), own)
    assert.match(await idFor(app, { 'x-request-id': 'abc' }), own)
    assert.match(await idFor(plain, { 'x-trace': 'abc', 'x-request-id': 'abc' }), own)
  })

  test('ignores an empty or malformed body on endpoints without a body', async () => {
    const { app, mail } = await server()
    const headers = { 'content-type': 'application/json;charset=UTF-8' }
    for (const payload of ['', '{{{']) {
      const session = await confirmedUser({ app, mail }, `ann${payload.length}@example.com`)
      const authorization = `Bearer ${session.access_token}`
      const request = { headers: { ...headers, authorization }, payload }
      const response = await app.inject({ method: 'POST', url: '/logout', ...request })
      assert.equal(response.statusCode, 204, response.body)
      assert.equal(response.body, '')
    }
  })

  test('rejects a chunked body once it exceeds 128 KiB', async () => {
    const { port } = await server()
    const headers = { 'transfer-encoding': 'chunked' }
    const request = httpRequest({ port, method: 'POST', path: '/signup', headers })
    request.on('error', () => {})
    const responded = once(request, 'response')
    for (let i = 0; i < 20; i += 1) request.write('x'.repeat(65_536))
    const [response] = await responded
    assert.equal(response.statusCode, 413)
    assert.equal(JSON.parse(await text(response)).error_code, 'request_entity_too_large')
    request.destroy()
  })

  test('reads a chunked body within the limit', async () => {
    const { port } = await server()
    const pieces = ['{"email":"x",', '"password":"long enough"}']
    const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)))
    const request = { method: 'POST', body, duplex: 'half' as const }
    const response = await fetch(`http://127.0.0.1:${port}/signup`, request)
    assert.match(await response.text(), /"validation_failed".*Unable to validate email address/)
  })

  test('returns 504 after AUTH_API_MAX_REQUEST_DURATION when the body is late', async (t) => {
    const { port } = await listen(t, { env: { AUTH_API_MAX_REQUEST_DURATION: '0.2' } })
    const request = httpRequest({ port, method: 'POST', path: '/signup' })
    request.setHeader('content-length', '100')
    request.on('error', () => {})
    const responded = once(request, 'response')
    request.write('{"email":')
    const [response] = await responded
    assert.equal(response.statusCode, 504)
    const body = JSON.parse(await text(response))
    assert.equal(body.error_code, 'request_timeout')
    assert.equal(body.error_id, response.headers['x-request-id'])
    request.destroy()
  })

  test('returns 504 after AUTH_API_MAX_REQUEST_DURATION when the work is late', async (t) => {
    const { port, database } = await listen(t, { env: { AUTH_API_MAX_REQUEST_DURATION: '0.3' } })
    const locker = new pg.Client({ connectionString: database.url })
    await locker.connect()
    await locker.query('begin; lock table auth.users in access exclusive mode')
    const body = JSON.stringify({ email: 'held@x.example', password: 'long enough for this' })
    const request = { method: 'POST', body, headers: { 'content-type': 'application/json' } }

    const response = await fetch(`http://127.0.0.1:${port}/signup`, request)

    assert.equal(response.status, 504)
    assert.equal(JSON.parse(await response.text()).error_code, 'request_timeout')
    await locker.end()
  })

  test('returns 408 for late headers and 400 for malformed requests, as JSON', async (t) => {
    const { port, app } = await listen(t)
    app.server.headersTimeout = 100
    const slow = await sendLines(port, 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    assert.match(slow, /^HTTP\/1.1 408 .*"error_code":"request_timeout"/s)
    const nonsense = await sendLines(port, 'this is not HTTP\r\n\r\n')
    assert.match(nonsense, /^HTTP\/1.1 400 .*"error_code":"bad_request"/s)
    const long = await sendLines(
      port,
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`,
    )
    assert.match(long, /^HTTP\/1.1 431 .*"error_code":"request_headers_too_large"/s)
  })
})

async function listen(t: Ending, options: BuildOptions = {}) {
  const built = await build(t, options)
  await built.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...built, port: listeningPort(built.app.server) }
}

/** Reads all output of the server until it closes the connection. */
async function sendLines(port: number, words: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(words)
  return text(socket)
}
