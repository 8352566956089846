import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { parse } from 'yaml'

import { startMailServer } from '../../support/messages/mail-server.ts'
import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { httpGet, startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until } from '../../support/processes/until.ts'
import { startCollector } from '../../support/runner/collector.ts'
import { build } from '../../support/server.ts'

const operations = new URL('../../../docs/operations/', import.meta.url)

async function scraped(t: Ending) {
  const port = await freePort()
  const mail = await startMailServer()
  t.after(() => mail.stop())
  const server = await startServerProcess(t, {
    ...mail.env,
    ...prometheusOn(port),
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_RATE_LIMIT_HEADER: 'x-real-ip',
    AUTH_RATE_LIMIT_VERIFY: '1',
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0',
  })
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/`)).text()
  return { server, scrape, port, mail }
}

function prometheusOn(port: number) {
  return {
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  }
}

function post(url: string, body: object, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function respond(response: Promise<Response>): Promise<{ refresh_token?: string }> {
  const body: unknown = await (await response).json()
  return typeof body === 'object' && body !== null ? body : {}
}

/** The value of a series, by the start of its line up to the closing brace. */
function readSeries(text: string, name: string, ...labels: string[]): number | undefined {
  const line = text
    .split('\n')
    .find((one) => one.startsWith(name) && labels.every((label) => one.includes(label)))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

async function untilText(read: () => Promise<string>, isIt: (text: string) => boolean) {
  let text = ''
  await until(async () => {
    text = await read()
    return isIt(text)
  })
  return text
}

function series(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('postern_') || line.startsWith('http_server'))
    .map((line) => line.replace(/ \S+$/, ''))
}

suite('metrics', () => {
  const ending = endingOfSuite()
  let shared: Awaited<ReturnType<typeof scraped>>
  before(async () => {
    shared = await scraped(ending)
  })

  test('are served at OTEL_EXPORTER_PROMETHEUS_HOST only', async () => {
    const { scrape, port } = shared
    assert.match(await scrape(), /postern_/)
    await assert.rejects(fetch(`http://127.0.0.2:${port}/`))
  })

  test('count events and are served on path / only', async () => {
    const { server, scrape, port, mail } = shared
    const before = await scrape()
    const { refresh_token } = await respond(post(`${server.url}/signup`, {}))
    const refresh = `${server.url}/token?grant_type=refresh_token`
    await post(refresh, { refresh_token })
    const wrong = { email: 'nobody@example.com', password: 'wrong password' }
    await post(`${server.url}/token?grant_type=password`, wrong)
    const email = 'new@example.com'
    await post(`${server.url}/signup`, { email, password: 'a long password' })
    await mail.waitFor(email)
    // The user is looked up by a job, and the email is another one.
    await post(`${server.url}/recover`, { email })
    await until(() => mail.messages.filter(({ to }) => to === email).length === 2)
    // The job ends after its email, and readings within a second share a statement.
    const ended = { postern_jobs_total: ['send_mail', 'done'] }
    const emptied = { postern_emails_queued: [], postern_jobs_queued: ['send_mail'] }
    const text = await untilText(scrape, (text) => {
      const all = (series: Record<string, string[]>, value: number) =>
        Object.entries(series).every(
          ([name, labels]) => readSeries(text, name, ...labels) === value,
        )
      return all(ended, 1) && all(emptied, 0)
    })
    const added: [number, string, ...string[]][] = [
      [1, 'postern_sign_ins_total', 'method="anonymous"', 'outcome="accepted"'],
      [1, 'postern_sign_ins_total', 'method="password"', 'outcome="rejected"'],
      [1, 'postern_token_refreshes_total', 'outcome="rotated"'],
      [1, 'postern_errors_total', 'error_code="invalid_credentials"'],
      [1, 'postern_sign_in_failures_total', 'method="password"', 'reason="invalid_credentials"'],
      [1, 'postern_jobs_total', 'task="send_mail"', 'outcome="done"'],
      [2, 'postern_emails_total', '"sent"'],
      [1, 'http_server_request_duration_count', 'http_route="/token"', '"400"'],
    ]
    for (const [value, name, ...labels] of added) {
      const sum = (readSeries(before, name, ...labels) ?? 0) + value
      assert.equal(readSeries(text, name, ...labels), sum, `${name} ${labels}`)
    }
    const none = [
      'postern_emails_queued',
      'postern_emails_dead_lettered',
      'postern_password_hashes_waiting',
      'db_client_connection_pending_requests',
    ]
    for (const name of none) assert.equal(readSeries(text, name), 0, name)
    const age = readSeries(text, 'postern_signing_key_age')
    assert.ok(age !== undefined && age >= 0 && age < 600, `key age ${age}`)
    const some = [
      ['process_memory_usage'],
      ['process_cpu_time_total', 'cpu_mode="user"'],
      ['process_open_file_descriptor_count'],
      ['postern_ready'],
      ['postern_send_quota_left', 'channel="email"'],
      ['postern_password_hash_duration_count'],
      ['postern_password_hash_wait_count'],
      ['db_client_connection_wait_time_count'],
      ['db_client_operation_duration_count', 'db_query_summary="insert users"'],
    ] as const
    for (const [name, ...labels] of some) {
      const value = readSeries(text, name, ...labels)
      assert.ok(value !== undefined && value > 0, `${name} ${value}`)
    }
    const ages = ['postern_cleanup_age', 'postern_jobs_oldest_due_age']
    for (const name of ages) assert.ok((readSeries(text, name) ?? 1e9) < 3600, name)
    assert.equal(readSeries(text, 'postern_jobs_failed', 'task="send_mail"'), 0)
    const from0 = ['postern_password_hashes_rejected_total', 'postern_send_quota_exceeded_total']
    for (const name of from0) assert.equal(readSeries(text, name), 0, name)
    assert.match(text, /nodejs_eventloop_delay/)
    assert.match(text, /v8js_memory_heap/)
    assert.match(text, /auth_version="\d/)
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 404)
  })

  test('count refresh token reuse and reached limits', async () => {
    const { server, scrape } = shared
    const { refresh_token } = await respond(post(`${server.url}/signup`, {}))
    const url = `${server.url}/token?grant_type=refresh_token`
    const next = await respond(post(url, { refresh_token }))
    await post(url, { refresh_token: next.refresh_token })
    assert.equal((await post(url, { refresh_token })).status, 400)
    const headers = { 'x-real-ip': '203.0.113.9' }
    const attempt = { type: 'email', email: 'a@example.com', token: '000000' }
    for (let i = 0; i < 3; i++) await post(`${server.url}/verify`, attempt, headers)
    const text = await scrape()
    assert.equal(readSeries(text, 'postern_token_refreshes_total', '"reuse_detected"'), 1)
    assert.equal(readSeries(text, 'postern_rate_limit_exceeded_total', 'limiter="/verify"'), 2)
  })

  test('count responses without a route among errors', async () => {
    const { server, scrape } = shared
    const counted = async (code: string) =>
      readSeries(await scrape(), 'postern_errors_total', `error_code="${code}"`) ?? 0
    const before = [await counted('not_found'), await counted('method_not_allowed')]
    assert.equal((await fetch(`${server.url}/wp-login.php`)).status, 404)
    assert.equal((await fetch(`${server.url}/settings`, { method: 'DELETE' })).status, 405)
    const after = [await counted('not_found'), await counted('method_not_allowed')]
    assert.deepEqual(
      after,
      before.map((count) => count + 1),
    )
  })

  test('do not count a request as active after the client disconnected', async () => {
    const { server, scrape } = shared
    const active = async () => readSeries(await scrape(), 'http_server_active_requests')
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write('POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    await until(async () => (await active()) === 1)
    socket.destroy()
    await until(async () => (await active()) === 0, { seconds: 10 })
  })

  test('have a bounded number of series', async () => {
    const { server, scrape } = shared
    const visit = async (i: number) => {
      const headers = { 'x-real-ip': `203.0.113.${i}` }
      await post(`${server.url}/signup`, {}, headers)
      await fetch(`${server.url}/no-such-path-${i}`, { headers })
      await fetch(`${server.url}/admin/users/${crypto.randomUUID()}`, { headers })
      const user = { email: `p${i}@example.com`, password: 'wrong password' }
      await post(`${server.url}/token?grant_type=password`, user, headers)
      await post(`${server.url}/token?grant_type=made-up-${i}`, {}, headers)
    }
    await visit(1)
    const before = series(await scrape())
    for (let i = 2; i < 8; i++) await visit(i)
    const added = series(await scrape()).filter((name) => !before.includes(name))
    // A periodic job may run for the first time meanwhile, with its statements.
    assert.deepEqual(
      added.filter((name) => !/task="|statement="/.test(name)),
      [],
    )
  })

  test('have the same names when pushed to a collector, and the last push succeeds', async (t) => {
    const collector = await startCollector(t)
    const folder = temporaryFolder(t, 'log')
    const log = join(folder, 'auth.log')
    const server = await startServerProcess(t, {
      AUTH_METRICS_ENABLED: 'true',
      AUTH_METRICS_EXPORTER: 'opentelemetry',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      // The SDK rejects a timeout above the interval.
      OTEL_METRIC_EXPORT_TIMEOUT: '1000',
      AUTH_LOG_FILE: log,
      LOG_LEVEL: 'error',
    })
    await httpGet(`${server.url}/health`)
    const names = ['http.server.request.duration', 'db.client.connection.count']
    await until(() => names.every((name) => collector.metricNames().includes(name)))
    assert.deepEqual(collector.spans(), [])
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    assert.equal(await readFile(log, 'utf8'), '')
  })

  test('reject the start with an explanation when the port is in use', async (t) => {
    const env = prometheusOn(shared.port)
    await assert.rejects(
      build(t, { env }),
      /^Error: Metrics cannot be served on 127\.0\.0\.1:\d+: ch/,
    )
  })

  test('cover each name in the dashboard and the alerts', async () => {
    const { server, scrape } = shared
    await httpGet(`${server.url}/health`)
    const text = await scrape()
    const exported = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    )
    for (const name of await laterNames()) exported.add(name)
    const used = new Set(
      (await expressions()).flatMap((one) =>
        [...one.matchAll(/\b(?:postern|http_server|nodejs|v8js|process)_\w+/g)].map(
          ([name]) => name,
        ),
      ),
    )
    assert.ok(used.size >= 10, 'the files name metrics')
    assert.deepEqual(
      [...used].filter((name) => !exported.has(name)),
      [],
    )
    const shown = new Set([...used].map((name) => name.replace(/_(bucket|count|sum)$/, '')))
    const ours = [...exported].filter((name) => /^(postern|process)_/.test(name))
    const unseen = ours.filter((name) => !shown.has(name.replace(/_(bucket|count|sum)$/, '')))
    assert.deepEqual(unseen, [], 'what is measured is on the dashboard or in an alert')
  })
})

/** Counters are exported from their first event on, gauges when they have a value. */
async function laterNames(): Promise<string[]> {
  const { counters, gauges } = await import(
    '../../../plugins/observability/telemetry/instruments.ts'
  )
  const names = [...Object.keys(counters).map((name) => `${name}_total`), ...Object.keys(gauges)]
  return names.map((name) => name.replaceAll('.', '_'))
}

async function expressions(): Promise<string[]> {
  const rules = parse(await readFile(new URL('alerts.yml', operations), 'utf8'))
  const dashboard = JSON.parse(await readFile(new URL('dashboard.json', operations), 'utf8'))
  const fromRules = rules.groups.flatMap((group: { rules: { expr: string }[] }) =>
    group.rules.map(({ expr }) => expr),
  )
  const fromPanels = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  )
  return [...fromRules, ...fromPanels]
}
