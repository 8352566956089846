import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { query } from '../../db/sql.ts'
import { cloneDatabase } from '../../support/database.ts'
import { startTcpProxy } from '../../support/processes/tcp-proxy.ts'
import { until } from '../../support/processes/until.ts'
import { type App, build } from '../../support/server.ts'

suite('GET /ready', () => {
  test('returns 200 with the state of each check', async (t) => {
    const { app } = await build(t)
    const response = await app.inject({ url: '/ready' })
    assert.equal(response.statusCode, 200)
    const checks = { database: 'ok', migrations: 'ok', queue: 'ok' }
    assert.deepEqual(response.json(), { status: 'ready', checks })
  })

  test('returns 503 when the database is unreachable, while /health returns 200', async (t) => {
    const database = await cloneDatabase(t)
    const proxy = await startTcpProxy(database.url)
    t.after(() => proxy.stop())
    const { app } = await build(t, { env: { DATABASE_URL: proxy.url } })
    assert.equal((await app.inject({ url: '/ready' })).statusCode, 200)
    proxy.cut()
    const response = await notReady(app)
    assert.equal(response.json().checks.database, 'failed')
    assert.equal((await app.inject({ url: '/health' })).statusCode, 200)
  })

  test('returns 503 when the schema is older than the program', async (t) => {
    const { app, database } = await build(t)
    const removal = `delete from auth.postern_migrations where name = '0214-schema-floor'`
    await query(database.url, removal)
    const response = await app.inject({ url: '/ready' })
    assert.equal(response.statusCode, 503)
    assert.deepEqual(response.json().checks, { database: 'ok', migrations: 'failed', queue: 'ok' })
  })

  test('returns 503 and closes connections once the server is stopping', async (t) => {
    const { app } = await build(t)
    await app.readiness.leave(0)
    const response = await app.inject({ url: '/ready' })
    assert.equal(response.statusCode, 503)
    assert.equal(response.json().status, 'stopping')
    assert.equal(response.headers.connection, 'close')
    assert.equal((await app.inject({ url: '/health' })).statusCode, 200)
  })
})

suite('readiness.leave', () => {
  test('waits while requests arrive, not counting health checks', async (t) => {
    const { app } = await build(t)
    // With a mocked clock: a busy machine must not look like a balancer that sends no requests.
    let clock = performance.now()
    t.mock.method(performance, 'now', () => clock)
    await app.inject({ url: '/settings' })
    let hasLeft = false
    const left = app.readiness.leave(60).then(() => {
      hasLeft = true
    })
    // Longer than the pause between two requests of a load balancer that has not noticed yet; no connection is open
    // meanwhile.
    for (let i = 0; i < 6; i++) {
      clock += 300
      await pause(120)
      assert.equal((await app.inject({ url: '/settings' })).statusCode, 200)
    }
    assert.equal(hasLeft, false)
    clock += 1_001
    const checks = setInterval(() => void app.inject({ url: '/ready' }), 10)
    await left
    clearInterval(checks)
  })

  test('returns immediately without any requests', async (t) => {
    const { app } = await build(t)
    await app.inject({ url: '/ready' })
    await app.readiness.leave(60)
  })
})

/** Queries the database once a second at most. */
async function notReady(app: App) {
  const response = await until(
    async () => {
      const pending = await app.inject({ url: '/ready' })
      return pending.statusCode !== 200 && pending
    },
    { missing: 'it is still ready' },
  )
  assert.equal(response.statusCode, 503)
  return response
}

test('HEAD /ready returns the status only', async (t) => {
  const { app } = await build(t)
  for (const url of ['/health', '/ready', '/auth/v1/health']) {
    const response = await app.inject({ method: 'HEAD', url })
    assert.equal(response.statusCode, 200, url)
    assert.equal(response.body, '')
  }
})
