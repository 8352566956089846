import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { before, suite, test } from 'node:test'

import { type Span, startCollector, valuesOf } from '../support/collector.ts'
import { type Ending, endingOfSuite } from '../support/ending.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ask, serviceRole, startServerProcess, until } from '../support/server-process.ts'

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
    assert.equal(attributes['http.route.params.user_id'], id)
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
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    })
    assert.equal((await ask(`${server.url}/health`)).status, 200)
    const begun = performance.now()
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    assert.ok(performance.now() - begun < 9_000)
  })
})

/** Takes connections, and says nothing on them. */
async function silence(t: Ending): Promise<string> {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    sockets.add(socket)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
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
