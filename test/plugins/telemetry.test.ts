import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { type Span, startCollector, valuesOf } from '../support/collector.ts'
import { cloneDatabase } from '../support/database.ts'
import { type Ending, endingOfSuite } from '../support/ending.ts'
import { startHookReceiver } from '../support/hook-receiver.ts'
import { listen } from '../support/listening.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ask, serviceRole, startServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'

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
    const env = { ...mail.env, OTEL_RESOURCE_ATTRIBUTES: 'team=people' }
    ;({ collector, server } = await traced(ending, env))
  })

  test('a request is a span with its route, its parameters and the build version', async () => {
    const id = crypto.randomUUID()
    const headers = { authorization: `Bearer ${await serviceRole()}` }
    await fetch(`${server.url}/auth/v1/admin/users/${id}?token=query-secret`, { headers })
    const span = await found(collector.spans, (one) => one.name === 'GET /admin/users/{user_id}')
    const attributes = valuesOf(span.attributes)
    assert.equal(attributes['http.route'], '/admin/users/{user_id}')
    const fingerprint = createHash('sha256').update(id).digest('hex').slice(0, 16)
    assert.equal(attributes['http.route.params.user_id'], fingerprint)
    assert.equal(attributes['http.method'], 'GET')
    assert.equal(attributes['http.response.status_code'], 404)
    const resource = collector.resource()
    assert.match(String(resource['auth.version']), /^\d+\.\d+\.\d+/)
    assert.equal(resource['service.name'], 'postern')
    assert.equal(resource.team, 'people')
  })

  test('statements, also those after a body was read, are inside the span of their request', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'a wrong password' })
    const headers = { 'content-type': 'application/json', traceparent }
    await fetch(`${server.url}/token?grant_type=password`, { method: 'POST', headers, body })
    const request = await found(collector.spans, ({ name }) => name === 'POST /token')
    assert.equal(request.traceId, traceparent.split('-')[1])
    const query = await found(
      collector.spans,
      (one) => one.parentSpanId === request.spanId && /from "auth"."users"/.test(textOf(one)),
    )
    assert.equal(query.name, 'WITH')
    assert.match(textOf(query), /\$1/)
  })

  test('a mail is a span of its kind, and no secret or address is in any of them', async () => {
    const password = 'correct horse battery'
    const body = JSON.stringify({ email: 'person@example.com', password })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer abc.def.ghi' }
    await fetch(`${server.url}/signup?redirect_to=http%3A%2F%2Fapp.example%2Fquery-secret`, {
      method: 'POST',
      headers,
      body,
    })
    await fetch(`${server.url}/verify?type=signup&token=query-secret`, { redirect: 'manual' })
    await fetch(`${server.url}/no/such/path-secret`)
    const sent = await found(collector.spans, ({ name }) => name === 'send mail')
    assert.equal(valuesOf(sent.attributes)['mail.kind'], 'confirmation')
    await found(collector.spans, ({ name }) => name === 'GET /verify')
    const everything = collector.received.map((one) => one.body.toString()).join('\n')
    for (const kept of [password, 'person@example.com', 'query-secret', 'path-secret', 'abc.def']) {
      assert.ok(!everything.includes(kept), `${kept} is in a span`)
    }
  })

  test('a mail is sent in the trace of the request that queued it', async () => {
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
    assert.equal(job.parentSpanId, request.spanId)
    assert.equal(sending.parentSpanId, job.spanId)
    const hash = await found(collector.spans, named('password hash'))
    assert.equal(hash.parentSpanId, request.spanId)
  })

  test('a request whose trace is not recorded leaves no span, nor do its statements', async () => {
    const left = '2af7651916cd43dd8448eb211c80319e'
    const kept = '3af7651916cd43dd8448eb211c80319f'
    const ask = (traceId: string, flags: string) =>
      fetch(`${server.url}/ready`, {
        headers: { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` },
      })
    await ask(left, '00')
    await ask(kept, '01')
    await found(collector.spans, ({ traceId }) => traceId === kept)
    assert.ok(collector.spans().every(({ traceId }) => traceId !== left))
  })

  test('a wait for a connection and a call of a hook are spans; lines of the log name the trace', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.answer({ decision: 'continue' })
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const folder = await mkdtemp(join(tmpdir(), 'traces-'))
    t.after(() => rm(folder, { recursive: true }))
    const AUTH_LOG_FILE = join(folder, 'log')
    const { collector, server } = await traced(t, {
      ...receiver.env('PASSWORD_VERIFICATION_ATTEMPT'),
      ...{ AUTH_LOG_FILE, LOG_LEVEL: 'info', DATABASE_URL, AUTH_MAILER_AUTOCONFIRM: 'true' },
      AUTH_DB_MAX_POOL_SIZE: '1',
    })
    const post = (path: string) =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', traceparent },
        body: JSON.stringify({ email: 'held@example.com', password: 'correct horse battery' }),
      })
    assert.equal((await post('/signup')).status, 200)
    const holder = new pg.Client({ connectionString: DATABASE_URL })
    await holder.connect()
    await holder.query('begin; lock table auth.sessions')
    // The first takes the only connection and waits for the lock; the other waits for the connection.
    const signIns = [post('/token?grant_type=password'), post('/token?grant_type=password')]
    const waiting = "from pg_locks where not granted and relation = 'auth.sessions'::regclass"
    await until(async () => (await holder.query(`select ${waiting}`)).rowCount === 1)
    // On a busy machine the other comes later, and then there is no wait to be seen.
    await pause(1_000)
    await holder.query('commit')
    await holder.end()
    for (const answer of await Promise.all(signIns)) assert.equal(answer.status, 200)

    const hook = await found(collector.spans, ({ name }) => name === 'hook')
    assert.equal(valuesOf(hook.attributes)['hook.name'], 'password-verification')
    await found(collector.spans, ({ name }) => name === 'pool wait')
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    const lines = (await readFile(AUTH_LOG_FILE, 'utf8')).trim().split('\n')
    const written = lines.map((line) => JSON.parse(line))
    const audited = written.find(({ audit }) => audit?.action === 'login')
    assert.equal(audited.trace_id, traceparent.split('-')[1])
    const completed = written.find(({ route }) => route === '/token')
    assert.equal(completed.trace_id, traceparent.split('-')[1])
    assert.match(completed.span_id, /^[0-9a-f]{16}$/)
  })

  test("with no protocol set, spans come as application/x-protobuf with the operator's headers", async () => {
    await fetch(`${server.url}/health`)
    await found(collector.spans, (span) => span.name === 'GET /health')
    assert.ok(collector.received.every(({ type }) => type === 'application/x-protobuf'))
    assert.equal(collector.received[0]?.headers['x-collector-key'], 'k1')
  })

  for (const [protocol, form] of [
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ] as const) {
    test(`as ${protocol}, what is still to be sent is sent before the process ends`, async (t) => {
      const { collector, server } = await traced(t, {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_BSP_SCHEDULE_DELAY: '60000',
      })
      await ask(`${server.url}/health`)
      server.child.kill('SIGTERM')
      assert.equal(await server.ended, 0)
      assert.ok(collector.spans().some(({ name }) => name === 'GET /health'))
      const [first] = collector.received
      assert.equal(first?.type, form)
      assert.equal(first?.headers['x-collector-key'], 'k1')
    })
  }

  test('a collector that refuses costs no request, and the process ends well', async (t) => {
    const { server } = await traced(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    })
    assert.equal((await ask(`${server.url}/health`)).status, 200)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
  })

  test('a collector that never answers keeps no process from ending', async (t) => {
    const { server } = await traced(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: await silence(t),
      // Ten minutes, which nobody waits for.
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    })
    assert.equal((await ask(`${server.url}/health`)).status, 200)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
  })
})

/** Takes connections, and says nothing on them. */
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

function textOf({ attributes }: Span): string {
  return String(valuesOf(attributes)['db.query.text'])
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
