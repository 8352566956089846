/**
 * Log lines stay short whatever an unauthenticated client sends, or an attacker fills the disk or the log bill:
 * rejected redirect_to values and error texts that repeat the input are truncated.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { SignJWT } from 'jose'
import type { OpenAPIV3 } from 'openapi-types'

import { createPino } from '../../../plugins/observability/logger/index.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { type App, build } from '../../support/server.ts'

/** Longer than each field limit, in a letter that no message repeats. */
const long = 'Z'.repeat(6000)
/** Limit of one client value, and of a line with all values and a stack. */
const maxValueLength = 200
const maxText = 1000
const maxLine = 8000

const headers = {
  'user-agent': long,
  referer: `https://evil.test/${long}`,
  redirect_to: `https://evil.test/${long}`,
  'x-forwarded-for': long,
  'x-forwarded-host': long,
  'x-real-ip': long,
  'x-trace': long,
  'x-supabase-api-version': long,
  'x-session-tag': long,
}

suite('log line length', () => {
  test('is limited for each endpoint with values that are too long', async (t) => {
    const lines: string[] = []
    const env = {
      AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
      AUTH_REQUEST_ID_HEADER: 'X-Trace',
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    }
    const { app, config } = await build(t, { env, lines })
    const admin = await signToken(config.AUTH_JWT_SECRET, { role: 'service_role' })
    const named = await signToken(config.AUTH_JWT_SECRET, { role: 'service_role', sub: long })
    for (const request of await requests(app)) {
      for (const authorization of [`Bearer ${long}`, `Bearer ${admin}`, `Bearer ${named}`]) {
        const few = { authorization, redirect_to: headers.redirect_to }
        await app.inject({ ...request, headers: { ...headers, authorization } })
        await app.inject({ ...request, headers: few })
      }
    }
    assert.ok(lines.length > 200, `only ${lines.length} lines`)
    assertShort(lines)
  })

  const redirects = [
    'https://evil.test/',
    'javascript:',
    'https://a:b@evil.test/',
    '\\\\evil.test\\',
  ]
  const lines: string[] = []
  const servers = shareServers((ending) => build(ending, { lines }))
  for (const start of redirects) {
    test(`is limited for a rejected redirect_to of ${start}`, async () => {
      const { app } = await servers()
      const query = new URLSearchParams({ type: 'signup', token: 'x', redirect_to: start + long })
      await app.inject(`/verify?${query}`)
      const line = lines
        .map((text) => JSON.parse(text))
        .find(({ redirect_to }) => redirect_to?.startsWith(start))
      assert.equal(line.redirect_to.length, maxValueLength)
      assertShort(lines)
    })
  }

  test('is limited for errors that repeat the input', () => {
    const lines: string[] = []
    const log = createPino('debug', { write: (line: string) => void lines.push(line) })
    const cause = new TypeError(`invalid input syntax: "${long}"`)
    const error = new Error(`no such thing: ${long}`, { cause })
    log.error({ err: error }, error.message)
    log
      .child({ request_id: 'x' })
      .info({ reason: long, deep: { list: [long, { text: long }] } }, long)
    log.warn(`${long} is unknown`)
    log.info('%s and %s', long, long)
    log.error(error)
    assert.equal(lines.length, 5)
    assertShort(lines, maxText)
    const { err } = JSON.parse(lines[0] ?? '')
    assert.equal(err.type, 'Error')
    assert.match(err.message, /^no such thing: Z+…$/)
    assert.match(err.stack, /\n +at /)
  })

  test('does not truncate shorter values', () => {
    const lines: string[] = []
    const log = createPino('debug', { write: (line: string) => void lines.push(line) })
    const list = ['https://*.example.com/**', 'myapp://callback']
    log.info({ list, count: 7, nothing: null, deep: { at: new Date(0) } }, 'a line of %d', 7)
    const { msg, ...line } = JSON.parse(lines[0] ?? '')
    assert.equal(msg, 'a line of 7')
    assert.deepEqual(line.list, list)
    assert.deepEqual([line.count, line.nothing], [7, null])
    assert.deepEqual(line.deep, { at: '1970-01-01T00:00:00.000Z' })
  })
})

function assertShort(lines: string[], max = maxValueLength) {
  for (const line of lines) {
    const runs = line.match(/Z+/g) ?? []
    for (const run of runs) assert.ok(run.length <= max, line.slice(0, 1000))
    assert.ok(line.length <= maxLine, `${line.length}: ${line.slice(0, 1000)}`)
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
interface Request {
  method: Method
  url: string
  payload?: object | string
}

/** Each operation of the API document with each field too long, one by one and together. */
async function requests(app: App): Promise<Request[]> {
  const { paths }: OpenAPIV3.Document = (await app.inject('/openapi.json')).json()
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item ?? {}).flatMap(([verb, operation]) => {
      const method = verb.toUpperCase() as Method
      return createRequests(method, path, operation as OpenAPIV3.OperationObject)
    }),
  )
}

function createRequests(
  method: Method,
  path: string,
  operation: OpenAPIV3.OperationObject,
): Request[] {
  const parameters = (operation.parameters ?? []) as OpenAPIV3.ParameterObject[]
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const query = new URLSearchParams(
    Object.fromEntries([...names, 'redirect_to', long].map((name) => [name, long])),
  )
  const fill = (value: string) => path.replaceAll(/\{\w+\}/g, value)
  const body = operation.requestBody as OpenAPIV3.RequestBodyObject | undefined
  const schema = body?.content['application/json']?.schema as OpenAPIV3.SchemaObject | undefined
  const fields = Object.keys(schema?.properties ?? {})
  const all = Object.fromEntries([...fields, long].map((name) => [name, long]))
  const bodies: (object | string)[] = [
    all,
    ...fields.map((name) => ({ [name]: long })),
    ...fields.map((name) => ({ [name]: { [long]: { [long]: long } } })),
    `{"${long}`,
    long,
  ]
  const payloads = method === 'GET' ? [undefined] : bodies
  const urls = [
    `${fill('11111111-1111-4111-8111-111111111111')}?${query}`,
    ...names.map((name) => `${path}?${name}=${long}`),
    fill(long),
    `${fill('x')}/${long}`,
    `${fill('x')}%${long}`,
  ]
  const first = urls.slice(0, 1).flatMap((url) => payloads.map((payload) => ({ url, payload })))
  const others = urls.slice(1).map((url) => ({ url, payload: payloads[0] }))
  return [...first, ...others].map(({ url, payload }) => ({
    method,
    url,
    ...(payload !== undefined && { payload }),
  }))
}

function signToken(secret: string, claims: object): Promise<string> {
  const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' })
  return jwt.setExpirationTime('1h').sign(new TextEncoder().encode(secret))
}
