import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { checkRedis } from '../../cli/doctor/services.ts'
import { createDoctorContext, runCheck } from '../cli/doctor/doctor-context.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { startTcpProxy } from '../support/processes/tcp-proxy.ts'
import { until } from '../support/processes/until.ts'
import { missing, startRedis } from './programs.ts'

const skip = missing('redis-server')
const limit = 10

/** One for each entry of `own`, the variables of that replica only. */
async function replicas(t: TestContext, own: readonly Record<string, string>[]) {
  const { url: DATABASE_URL } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL,
    AUTH_RATE_LIMIT_HEADER: 'x-real-ip',
    AUTH_RATE_LIMIT_VERIFY: String(limit),
  }
  const started = []
  for (const more of own) started.push(await startServerProcess(t, { ...settings, ...more }))
  return started.map(({ url }) => url)
}

/** Reads the metrics of a replica without traffic. */
async function startMetrics(t: TestContext, redisUrl = ''): Promise<() => Promise<string>> {
  const port = await freePort()
  await replicas(t, [{ ...(redisUrl && { AUTH_REDIS_URL: redisUrl }), ...metricsOn(port) }])
  return () => metricsAt(port)
}

async function metricsAt(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/`)).text()
}

function metricsOn(port: number): Record<string, string> {
  return {
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  }
}

function metric(text: string, name: string): number | undefined {
  const value = new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]
  return value === undefined ? undefined : Number(value)
}

async function attempt(url: string, address: string): Promise<number> {
  const response = await fetch(`${url}/verify?type=signup&token=x`, {
    headers: { 'x-real-ip': address },
    redirect: 'manual',
  })
  await response.body?.cancel()
  return response.status
}

async function served(urls: string[], times: number, address: string): Promise<number> {
  const statuses: number[] = []
  // A few at a time: on a busy machine Redis would respond late, and each replica would count alone.
  while (statuses.length < times) {
    const count = Math.min(6, times - statuses.length)
    const requested = Array.from({ length: count }, (_, i) =>
      attempt(urls[i % urls.length] ?? '', address),
    )
    statuses.push(...(await Promise.all(requested)))
  }
  assert.ok(
    statuses.every((status) => status === 303 || status === 429),
    String(statuses),
  )
  return statuses.filter((status) => status !== 429).length
}

suite('rate limits with Redis', { skip }, () => {
  test('three replicas count together exactly', async (t) => {
    const redis = await startRedis(t)
    const ports = await Promise.all([freePort(), freePort(), freePort()])
    const urls = await replicas(
      t,
      ports.map((port) => ({ AUTH_REDIS_URL: redis.url, ...metricsOn(port) })),
    )
    const failures = 'postern_rate_limit_shared_store_failures_total'
    async function countedAlone(): Promise<number> {
      const texts = await Promise.all(ports.map(metricsAt))
      return texts.reduce((sum, text) => sum + (metric(text, failures) ?? 0), 0)
    }

    let last = 1
    await until(async () => {
      const before = await countedAlone()
      last += 2
      const address = `203.0.113.${last}`
      const counts = [
        await served(urls, 60, address),
        await served(urls, 3, address),
        await served(urls, 5, `203.0.113.${last + 1}`),
      ]
      // On a busy machine Redis may respond late, and a replica then counts alone.
      if ((await countedAlone()) !== before) return false
      assert.deepEqual(counts, [limit, 0, 5])
      return true
    })
  })

  test('replicas count alone while Redis is down or hangs', async (t) => {
    const redis = await startRedis(t)
    const port = await freePort()
    const [url = ''] = await replicas(t, [{ AUTH_REDIS_URL: redis.url, ...metricsOn(port) }])
    assert.equal(await served([url], 3, '203.0.113.1'), 3)

    redis.signal('SIGSTOP')
    const began = performance.now()
    assert.equal(await served([url], 3, '203.0.113.1'), 3)
    assert.ok(performance.now() - began < 5_000, 'a silent Redis delays no request')

    await redis.stop()
    assert.equal(await served([url], limit, '203.0.113.1'), limit - 6)
    assert.equal(await served([url], limit + 5, '203.0.113.3'), limit)
    const metrics = await metricsAt(port)
    assert.match(metrics, /postern_rate_limit_shared_store_failures_total\{[^}]*\} [1-9]/)

    await redis.start()
    // The new server has no entry for these addresses: served requests are counted there.
    await until(async () => (await attempt(url, '203.0.113.3')) === 303)
  })
})

suite('Redis metrics', { skip }, () => {
  test('report up, down, hanging and disconnected at scrape time, with or without traffic', async (t) => {
    const redis = await startRedis(t)
    const proxy = await startTcpProxy(redis.url)
    t.after(() => proxy.stop())
    const metrics = await startMetrics(t, proxy.url)
    const isUp = async () => metric(await metrics(), 'postern_redis_up')
    await until(async () => (await isUp()) === 1)

    redis.signal('SIGSTOP')
    assert.equal(await isUp(), 0)
    redis.signal('SIGCONT')
    await until(async () => (await isUp()) === 1)

    proxy.lose()
    assert.equal(await isUp(), 0)
    await until(async () => (await isUp()) === 1, { missing: 'it waits for a server that is gone' })

    await redis.stop()
    await until(async () => (await isUp()) === 0)
    await redis.start()
    await until(async () => (await isUp()) === 1)
    const text = await metrics()
    assert.equal(metric(text, 'postern_rate_limit_shared_store_failures_total'), 0)
  })

  test('are missing without Redis', async (t) => {
    const text = await (await startMetrics(t))()
    assert.equal(metric(text, 'postern_ready'), 1)
    assert.equal(metric(text, 'postern_redis_up'), undefined)
  })
})

suite('doctor: Redis', { skip }, () => {
  test('reports a reachable and a hanging server', async (t) => {
    const server = await startRedis(t)
    const context = createDoctorContext(t, { AUTH_REDIS_URL: server.url })
    assert.deepEqual(await runCheck(checkRedis, context), ['pass Redis responds.'])
    server.signal('SIGSTOP')
    assert.match((await runCheck(checkRedis, context)).join(), /^fail Redis at .* does not respond/)
    server.signal('SIGCONT')
  })
})
