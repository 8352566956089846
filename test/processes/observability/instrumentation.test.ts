/** Which modules a server loads with tracing on and off, and what the instrumentation exports. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until } from '../../support/processes/until.ts'
import { parseAttributes, startCollector } from '../../support/runner/collector.ts'

const recorder = new URL('../../support/processes/module-recorder.mjs', import.meta.url).href

/** A started server, and the files of all modules that it has loaded, in this order. */
async function startRecorded(t: Ending, env: Record<string, string>) {
  const folder = temporaryFolder(t, 'modules')
  const MODULE_RECORD = join(folder, 'modules')
  const recorded = { ...env, MODULE_RECORD, NODE_OPTIONS: `--import=${recorder}` }
  const { url } = await startServerProcess(t, recorded)
  return { url, modules: (await readFile(MODULE_RECORD, 'utf8')).trim().split('\n') }
}

const telemetry = /node_modules\/(@opentelemetry|import-in-the-middle|require-in-the-middle)\//

suite('instrumentation', () => {
  const ending = endingOfSuite()
  let collector: Awaited<ReturnType<typeof startCollector>>
  let url = ''
  let modules: string[] = []
  before(async () => {
    collector = await startCollector(ending)
    ;({ url, modules } = await startRecorded(ending, {
      GOTRUE_TRACING_ENABLED: 'true',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      AUTH_DB_MAX_POOL_SIZE: '1',
    }))
  })

  test('loads no module of OpenTelemetry when tracing and metrics are off', async (t) => {
    const { modules } = await startRecorded(t, {})
    assert.ok(modules.some((url) => url.endsWith('/fastify/fastify.js')))
    assert.deepEqual(
      modules.filter((url) => telemetry.test(url)),
      [],
    )
  })

  test('loads the instrumentation before Fastify, pg and undici when tracing is on', () => {
    const findIndex = (path: string) => modules.findIndex((url) => url.endsWith(path))
    const first = Math.min(
      ...['/fastify/fastify.js', '/pg/esm/index.mjs', '/undici/index.js']
        .map(findIndex)
        .filter((place) => place !== -1),
    )
    for (const name of ['fastify', 'http', 'pg', 'undici']) {
      const place = findIndex(`/instrumentation-${name}/build/src/index.js`)
      assert.ok(place !== -1 && place < first, name)
    }
  })

  test('is enabled by GOTRUE_TRACING_ENABLED', () => {
    assert.ok(modules.some((url) => url.includes('/instrumentation-fastify/')))
  })

  test('creates spans of requests, Fastify hooks and statements', async () => {
    const traceId = 'd'.repeat(32)
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
    await fetch(`${url}/ready?token=query-secret`, { headers })
    const inTrace = () => collector.spans().filter((span) => span.traceId === traceId)
    const findRequest = () => inTrace().find(({ name }) => name === 'GET /ready')
    await until(() => findRequest() !== undefined)
    const request = findRequest()
    const attributes = parseAttributes(request?.attributes)
    assert.equal(attributes['http.request.method'], 'GET')
    assert.equal(attributes['url.path'], undefined)
    assert.equal(attributes['url.query'], undefined)
    for (const name of [/^middleware - /, /^request handler - /, /^pg.query:/]) {
      assert.ok(
        inTrace().some((span) => name.test(span.name)),
        String(name),
      )
    }
  })

  test('ends the span of a statement that the connection has prepared before', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'a wrong password' })
    const headers = { 'content-type': 'application/json' }
    const findStatements = (trace: string) =>
      collector.spans().filter((span) => span.traceId === trace && /^pg.query:/.test(span.name))
    for (const trace of ['a', 'b', 'c']) {
      const traceparent = `00-${trace.repeat(32)}-b7ad6b7169203331-01`
      const init = { method: 'POST', body, headers: { ...headers, traceparent } }
      await fetch(`${url}/token?grant_type=password`, init)
    }
    await until(() => findStatements('c'.repeat(32)).length > 0)
    assert.equal(findStatements('c'.repeat(32)).length, findStatements('b'.repeat(32)).length)
  })
})
