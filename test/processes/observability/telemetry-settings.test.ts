/** Telemetry settings, each in a server of its own: exported data and log lines. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { createServer } from 'node:http2'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { listen } from '../../support/processes/listening.ts'
import { httpGet, startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until } from '../../support/processes/until.ts'
import { parseAttributes, readTraces, startCollector } from '../../support/runner/collector.ts'

/** A gRPC collector: messages have a prefix of five bytes, the status is in trailers. */
async function grpcCollector(t: TestContext) {
  const messages: Buffer[] = []
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      messages.push(Buffer.concat(chunks).subarray(5))
      response.setHeader('content-type', 'application/grpc')
      response.addTrailers({ 'grpc-status': '0' })
      response.end(Buffer.alloc(5))
    })
  })
  t.after(() => void server.close())
  return { url: `http://127.0.0.1:${await listen(server)}`, messages, paths }
}

/** A request from this address of the machine, in a trace that its client records. */
function getInTrace(url: string, localAddress: string, traceId: string): Promise<void> {
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, localAddress, headers }, (response) => {
      response.resume().once('end', resolve)
    })
    request.once('error', reject)
  })
}

suite('telemetry settings', () => {
  test('export spans by gRPC with OTEL_SERVICE_NAME, log SDK diagnostics with DEBUG=true and report deprecations', async (t) => {
    const folder = temporaryFolder(t, 'telemetry')
    const AUTH_LOG_FILE = join(folder, 'log')
    const collector = await grpcCollector(t)
    const server = await startServerProcess(t, {
      AUTH_TRACING_ENABLED: 'true',
      AUTH_TRACING_EXPORTER: 'opentelemetry',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'members',
      DEBUG: 'true',
      LOG_LEVEL: 'debug',
      AUTH_LOG_FILE,
      AUTH_JWT_DEFAULT_GROUP_NAME: 'members',
    })
    await httpGet(`${server.url}/health`)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)

    const resources = collector.messages.flatMap(readTraces)
    const spans = resources.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap((one) => one.spans))
    assert.ok(spans.some(({ name }) => name === 'GET /health'))
    const [path] = collector.paths
    assert.equal(path, '/opentelemetry.proto.collector.trace.v1.TraceService/Export')
    const attributes = parseAttributes(resources[0]?.resource.attributes ?? [])
    assert.equal(attributes['service.name'], 'members')

    const lines = (await readFile(AUTH_LOG_FILE, 'utf8')).trim().split('\n')
    const logged = lines.map((line) => JSON.parse(line))
    assert.ok(logged.some(({ level, msg }) => level === 'debug' && /^telemetry: /.test(msg)))
    const deprecated = logged.find(({ msg }) => /deprecated and may be removed/.test(msg))
    assert.match(deprecated?.msg, /AUTH_JWT_DEFAULT_GROUP_NAME/)
    assert.equal(deprecated?.level, 'warn')
  })

  test('continue the traces of trusted proxies only, so that others cannot be recorded past the ratio', async (t) => {
    const [proxy, client] = ['127.0.0.2', '127.0.0.3']
    const collector = await startCollector(t)
    const server = await startServerProcess(t, {
      AUTH_TRACING_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      AUTH_TRUSTED_PROXIES: proxy,
    })
    await getInTrace(`${server.url}/health`, client, '1bf7651916cd43dd8448eb211c80319d')
    const continued = '2bf7651916cd43dd8448eb211c80319e'
    await getInTrace(`${server.url}/health`, proxy, continued)
    await until(() => collector.spans().some(({ name }) => name === 'GET /health'))
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    assert.deepEqual([...new Set(collector.spans().map((span) => span.traceId))], [continued])
  })

  test('give a request of any other client a trace id of its own, from which the ratio decides', async (t) => {
    const collector = await startCollector(t)
    const server = await startServerProcess(t, {
      AUTH_TRACING_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      AUTH_TRUSTED_PROXIES: 'none',
    })
    // The ratio samples ids that begin with zeros first.
    const chosen = '00000001000000010000000100000001'
    await getInTrace(`${server.url}/health`, '127.0.0.1', chosen)
    await until(() => collector.spans().some(({ name }) => name === 'GET /health'))
    assert.ok(collector.spans().every(({ traceId }) => traceId !== chosen))
  })
})
