import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { cloneDatabase } from '../../support/database.ts'
import { startMailServer } from '../../support/messages/mail-server.ts'
import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { listen } from '../../support/processes/listening.ts'
import { httpGet, serviceRole, startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until } from '../../support/processes/until.ts'
import { parseAttributes, type Span, startCollector } from '../../support/runner/collector.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

const tracing = {
  AUTH_TRACING_ENABLED: 'true',
  AUTH_TRACING_EXPORTER: 'opentelemetry',
  OTEL_BSP_SCHEDULE_DELAY: '100',
}

async function traced(t: Ending, env: Record<string, string> = {}) {
  const collector = await startCollector(t)
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=k1' }
  const settings = { ...tracing, ...headers, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }
  const server = await startServerProcess(t, settings)
  return { collector, server }
}

suite('traces', { concurrency: 2 }, () => {
  const ending = endingOfSuite()
  let collector: Awaited<ReturnType<typeof startCollector>>
  let server: Awaited<ReturnType<typeof startServerProcess>>
  before(async () => {
    const mail = await startMailServer()
    ending.after(() => mail.stop())
    const env = { ...mail.env, OTEL_RESOURCE_ATTRIBUTES: 'team=members' }
    ;({ collector, server } = await traced(ending, env))
  })

  test('record a request with route, parameters and version', async () => {
    const id = crypto.randomUUID()
    const headers = { authorization: `Bearer ${await serviceRole()}` }
    await fetch(`${server.url}/auth/v1/admin/users/${id}?token=query-secret`, { headers })
    const span = await found(
      collector.spans,
      (one) => parseAttributes(one.attributes)['http.route.params.user_id'] === id,
    )
    assert.equal(span.name, 'GET /admin/users/{user_id}')
    const attributes = parseAttributes(span.attributes)
    assert.equal(attributes['http.route'], '/admin/users/{user_id}')
    assert.equal(attributes['http.method'], 'GET')
    assert.equal(attributes['http.response.status_code'], 404)
    const resource = collector.resource()
    assert.match(String(resource['auth.version']), /^\d+\.\d+\.\d+/)
    assert.equal(resource['service.name'], 'postern')
    assert.equal(resource.team, 'members')
  })

  test('replace a token in the path by its fingerprint', async () => {
    const token = `eyJhbGciOiJFUzI1NiJ9.${'a'.repeat(60)}.signature`
    const headers = { authorization: `Bearer ${await serviceRole()}` }
    await fetch(`${server.url}/admin/users/${token}`, { headers })
    const fingerprint = createHash('sha256').update(token).digest('hex').slice(0, 16)
    await found(
      collector.spans,
      (one) => parseAttributes(one.attributes)['http.route.params.user_id'] === fingerprint,
    )
    assert.doesNotMatch(JSON.stringify(collector.spans()), /eyJhbGciOiJFUzI1NiJ9/)
  })

  test('contain statements as children of their request', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'a wrong password' })
    const headers = { 'content-type': 'application/json', traceparent }
    await fetch(`${server.url}/token?grant_type=password`, { method: 'POST', headers, body })
    const request = await found(collector.spans, ({ name }) => name === 'POST /token')
    assert.equal(request.traceId, traceparent.split('-')[1])
    const query = await found(
      collector.spans,
      (one) => one.traceId === request.traceId && /from "auth"."users"/.test(getText(one)),
    )
    assert.match(query.name, /^pg.query:/)
    assert.match(getText(query), /\$1/)
  })

  test('record an email by type, without secrets and addresses', async () => {
    const password = 'correct horse battery'
    const body = JSON.stringify({ email: 'user@example.com', password })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer abc.def.ghi' }
    await fetch(`${server.url}/signup?redirect_to=http%3A%2F%2Fapp.example%2Fquery-secret`, {
      method: 'POST',
      headers,
      body,
    })
    await fetch(`${server.url}/verify?type=signup&token=query-secret`, { redirect: 'manual' })
    await fetch(`${server.url}/no/such/path-secret`)
    const sent = await found(collector.spans, ({ name }) => name === 'send mail')
    assert.equal(parseAttributes(sent.attributes)['mail.kind'], 'confirmation')
    await found(collector.spans, ({ name }) => name === 'GET /verify')
    const everything = collector.received.map((one) => one.body.toString()).join('\n')
    for (const stored of [password, 'user@example.com', 'query-secret', 'path-secret', 'abc.def']) {
      assert.ok(!everything.includes(stored), `${stored} is in a span`)
    }
  })

  test('record sending an email in the trace of its request', async () => {
    const traceId = '1af7651916cd43dd8448eb211c80319d'
    const headers = {
      'content-type': 'application/json',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    }
    const body = JSON.stringify({ email: 'linked@example.com', password: 'correct horse battery' })
    await fetch(`${server.url}/signup`, { method: 'POST', headers, body })
    const named = (name: string) => (span: Span) => span.name === name && span.traceId === traceId
    const request = await found(collector.spans, named('POST /signup'))
    const job = await found(collector.spans, named('job send_mail'))
    const sending = await found(collector.spans, named('send mail'))
    assert.ok(isWithin(job, request, collector.spans()))
    assert.equal(sending.parentSpanId, job.spanId)
    await found(collector.spans, named('password hash'))
  })

  test('omit an unsampled request with its statements', async () => {
    const left = '2af7651916cd43dd8448eb211c80319e'
    const stored = '3af7651916cd43dd8448eb211c80319f'
    const send = (traceId: string, flags: string) =>
      fetch(`${server.url}/ready`, {
        headers: { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` },
      })
    await send(left, '00')
    await send(stored, '01')
    await found(collector.spans, ({ traceId }) => traceId === stored)
    assert.ok(collector.spans().every(({ traceId }) => traceId !== left))
  })

  let stopped: ReturnType<typeof signInAndStop> | undefined
  /** Shared by the tests of a server that exports nothing before it stops. */
  const spansOfStop = () => {
    stopped ??= signInAndStop(ending)
    return stopped
  }

  test('record connection waits and hook calls, and log lines have the trace id', async () => {
    const { collector, lines } = await spansOfStop()
    const hook = await found(collector.spans, ({ name }) => name === 'hook')
    assert.equal(parseAttributes(hook.attributes)['hook.name'], 'password-verification')
    const call = await found(
      collector.spans,
      (span) => span.name === 'POST' && isWithin(span, hook, collector.spans()),
    )
    const called = parseAttributes(call.attributes)
    assert.match(String(called['url.full']), /^https?:\/\/[^/]+$/)
    assert.equal(called['url.path'], undefined)
    await found(collector.spans, ({ name }) => name === 'pg-pool.connect')
    const written = lines.map((line) => JSON.parse(line))
    const audited = written.find(({ audit }) => audit?.action === 'login')
    assert.equal(audited.trace_id, traceparent.split('-')[1])
    const completed = written.find(({ route }) => route === '/token')
    assert.equal(completed.trace_id, traceparent.split('-')[1])
    assert.match(completed.span_id, /^[0-9a-f]{16}$/)
  })

  test('are exported as application/x-protobuf with configured headers by default', async () => {
    await fetch(`${server.url}/health`)
    await found(collector.spans, (span) => span.name === 'GET /health')
    assert.ok(collector.received.every(({ type }) => type === 'application/x-protobuf'))
    assert.equal(collector.received[0]?.headers['x-collector-key'], 'k1')
  })

  for (const [protocol, form] of [
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ] as const) {
    test(`are flushed before exit as ${protocol}`, async (t) => {
      const isShared = protocol === 'http/json'
      const { collector } = isShared ? await spansOfStop() : await visitAndStop(t, protocol)
      assert.ok(collector.spans().some(({ name }) => name === 'GET /health'))
      const [first] = collector.received
      assert.equal(first?.type, form)
      assert.equal(first?.headers['x-collector-key'], 'k1')
    })
  }

  test('do not affect requests or the exit when the collector rejects them', async (t) => {
    const { server } = await traced(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    })
    assert.equal((await httpGet(`${server.url}/health`)).status, 200)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
  })

  test('do not delay the exit when the collector hangs', async (t) => {
    const { server } = await traced(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: await silence(t),
      // Ten minutes, for which no test waits.
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    })
    assert.equal((await httpGet(`${server.url}/health`)).status, 200)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
  })
})

/** A server that exports its spans when it stops. */
async function visitAndStop(t: Ending, protocol: string) {
  const { collector, server } = await traced(t, {
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  })
  await httpGet(`${server.url}/health`)
  await stop(server)
  return { collector }
}

/** The same for sign-ins that wait for a connection and call a hook. `lines` are those of the log. */
async function signInAndStop(t: Ending) {
  const receiver = await startHookReceiver(t)
  receiver.answer({ decision: 'continue' })
  const { url: DATABASE_URL } = await cloneDatabase(t)
  const AUTH_LOG_FILE = join(temporaryFolder(t, 'traces'), 'log')
  const { collector, server } = await traced(t, {
    ...receiver.env('PASSWORD_VERIFICATION_ATTEMPT'),
    AUTH_LOG_FILE,
    LOG_LEVEL: 'info',
    DATABASE_URL,
    AUTH_MAILER_AUTOCONFIRM: 'true',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    AUTH_DB_MAX_POOL_SIZE: '1',
  })
  await signInWhileLocked(server.url, DATABASE_URL)
  await httpGet(`${server.url}/health`)
  await stop(server)
  return { collector, lines: (await readFile(AUTH_LOG_FILE, 'utf8')).trim().split('\n') }
}

async function stop(server: Awaited<ReturnType<typeof startServerProcess>>): Promise<void> {
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
}

/** Two sign-ins on a pool of one connection. */
async function signInWhileLocked(url: string, connectionString: string): Promise<void> {
  const post = (path: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent },
      body: JSON.stringify({ email: 'held@example.com', password: 'correct horse battery' }),
    })
  assert.equal((await post('/signup')).status, 200)
  const locker = new pg.Client({ connectionString })
  await locker.connect()
  await locker.query('begin; lock table auth.sessions')
  // The first request uses the only connection and waits for the lock; the other waits for the connection.
  const signIns = [post('/token?grant_type=password'), post('/token?grant_type=password')]
  const waiting = "from pg_locks where not granted and relation = 'auth.sessions'::regclass"
  await until(async () => (await locker.query(`select ${waiting}`)).rowCount === 1)
  // On a busy machine the other request may arrive later, without a wait.
  await pause(1_000)
  await locker.query('commit')
  await locker.end()
  for (const response of await Promise.all(signIns)) assert.equal(response.status, 200)
}

/** Accepts connections and sends nothing. */
async function silence(t: Ending): Promise<string> {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    sockets.add(socket)
  })
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  return `http://127.0.0.1:${await listen(listener)}`
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** Whether a span is inside another one, through any number of spans of hooks and handlers. */
function isWithin(span: Span, outer: Span, spans: Span[]): boolean {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  if (!parent) return false
  return parent.spanId === outer.spanId || isWithin(parent, outer, spans)
}

function getText({ attributes }: Span): string {
  return String(parseAttributes(attributes)['db.query.text'])
}

async function found(spans: () => Span[], isIt: (span: Span) => boolean): Promise<Span> {
  let span: Span | undefined
  await until(() => {
    span = spans().find(isIt)
    return span !== undefined
  })
  assert.ok(span)
  return span
}
