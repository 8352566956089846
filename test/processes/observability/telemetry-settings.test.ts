/** Telemetry settings, each in a server of its own: exported data and log lines. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http2'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { listen } from '../../support/processes/listening.ts'
import { httpGet, startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { parseAttributes, readTraces } from '../../support/runner/collector.ts'

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

suite('telemetry settings', () => {
  test('export spans by gRPC with OTEL_SERVICE_NAME, log SDK diagnostics with DEBUG=true and report deprecations', async (t) => {
    const folder = temporaryFolder(t, 'telemetry')
    const AUTH_LOG_FILE = join(folder, 'log')
    const collector = await grpcCollector(t)
    const server = await startServerProcess(t, {
      ...{ AUTH_TRACING_ENABLED: 'true', AUTH_TRACING_EXPORTER: 'opentelemetry' },
      ...{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      ...{ OTEL_SERVICE_NAME: 'members', DEBUG: 'true', LOG_LEVEL: 'debug', AUTH_LOG_FILE },
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
})
