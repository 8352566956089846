import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { freePort, startServerProcess, until } from '../support/server-process.ts'
import { missing, startRedis } from './programs.ts'

const skip = missing('redis-server')
const limit = 10

async function replicas(t: TestContext, count: number, env: Record<string, string>) {
  const { url: DATABASE_URL } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL,
    AUTH_RATE_LIMIT_HEADER: 'x-real-ip',
    AUTH_RATE_LIMIT_VERIFY: String(limit),
    ...env,
  }
  const started = []
  for (let i = 0; i < count; i++) started.push(await startServerProcess(t, settings))
  return started.map(({ url }) => url)
}

async function guess(url: string, address: string): Promise<number> {
  const answer = await fetch(`${url}/verify?type=signup&token=x`, {
    headers: { 'x-real-ip': address },
    redirect: 'manual',
  })
  await answer.body?.cancel()
  return answer.status
}

async function served(urls: string[], times: number, address: string): Promise<number> {
  const asked = Array.from({ length: times }, (_, i) => guess(urls[i % urls.length] ?? '', address))
  const statuses = await Promise.all(asked)
  assert.ok(
    statuses.every((status) => status === 303 || status === 429),
    String(statuses),
  )
  return statuses.filter((status) => status !== 429).length
}

suite('limits on Redis', { skip }, () => {
  test('three replicas count together, exactly', async (t) => {
    const redis = await startRedis(t)
    const urls = await replicas(t, 3, { AUTH_REDIS_URL: redis.url })
    assert.equal(await served(urls, 60, '203.0.113.1'), limit)
    assert.equal(await served(urls, 3, '203.0.113.1'), 0)
    assert.equal(await served(urls, 5, '203.0.113.2'), 5)
  })

  test('when Redis dies or hangs, requests are served under the limits of each replica', async (t) => {
    const redis = await startRedis(t)
    const port = await freePort()
    const [url = ''] = await replicas(t, 1, {
      AUTH_REDIS_URL: redis.url,
      AUTH_METRICS_ENABLED: 'true',
      AUTH_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    })
    assert.equal(await served([url], 3, '203.0.113.1'), 3)

    redis.signal('SIGSTOP')
    const began = performance.now()
    assert.equal(await served([url], 3, '203.0.113.1'), 3)
    assert.ok(performance.now() - began < 1_500, 'a silent Redis keeps nobody waiting')

    await redis.stop()
    assert.equal(await served([url], limit, '203.0.113.1'), limit - 6)
    assert.equal(await served([url], limit + 5, '203.0.113.3'), limit)
    const metrics = await (await fetch(`http://127.0.0.1:${port}/`)).text()
    assert.match(metrics, /postern_rate_limit_shared_store_failures_total\{[^}]*\} [1-9]/)

    await redis.start()
    // The new server knows nothing of these addresses: whoever is served is counted there.
    await until(async () => (await guess(url, '203.0.113.3')) === 303)
  })
})
