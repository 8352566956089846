import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { query } from '../db/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { type App, build } from '../support/server.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

suite('GET /ready', () => {
  test('says that everything works', async (t) => {
    const { app } = await build(t)
    const answer = await app.inject({ url: '/ready' })
    assert.equal(answer.statusCode, 200)
    const checks = { database: 'ok', migrations: 'ok', queue: 'ok' }
    assert.deepEqual(answer.json(), { status: 'ready', checks })
  })

  test('says when the database does not answer, and /health does not mind', async (t) => {
    const database = await cloneDatabase(t)
    const proxy = await startTcpProxy(database.url)
    t.after(() => proxy.stop())
    const { app } = await build(t, { env: { DATABASE_URL: proxy.url } })
    assert.equal((await app.inject({ url: '/ready' })).statusCode, 200)
    proxy.cut()
    const answer = await notReady(app)
    assert.equal(answer.json().checks.database, 'failed')
    assert.equal((await app.inject({ url: '/health' })).statusCode, 200)
  })

  test('says when the schema is older than the program', async (t) => {
    const { app, database } = await build(t)
    const removal = `delete from auth.postern_later_migrations where name = '0032-schema-floor'`
    await query(database.url, removal)
    const answer = await app.inject({ url: '/ready' })
    assert.equal(answer.statusCode, 503)
    assert.deepEqual(answer.json().checks, { database: 'ok', migrations: 'failed', queue: 'ok' })
  })

  test('says no once the server leaves, and answers end their connections', async (t) => {
    const { app } = await build(t)
    await app.readiness.leave(0)
    const answer = await app.inject({ url: '/ready' })
    assert.equal(answer.statusCode, 503)
    assert.equal(answer.json().status, 'stopping')
    assert.equal(answer.headers.connection, 'close')
    assert.equal((await app.inject({ url: '/health' })).statusCode, 200)
  })
})

suite('leaving', () => {
  test('waits while requests come, connected or not, and not for health checks', async (t) => {
    const { app } = await build(t)
    // In its own time: a machine that is busy for a second is no balancer that has gone.
    let clock = performance.now()
    t.mock.method(performance, 'now', () => clock)
    await app.inject({ url: '/settings' })
    let isGone = false
    const left = app.readiness.leave(60).then(() => {
      isGone = true
    })
    // Longer than the pause between two requests of a balancer that has not heard yet; nobody is connected meanwhile.
    for (let i = 0; i < 6; i++) {
      clock += 300
      await pause(120)
      assert.equal((await app.inject({ url: '/settings' })).statusCode, 200)
    }
    assert.equal(isGone, false)
    clock += 1_001
    const checks = setInterval(() => void app.inject({ url: '/ready' }), 10)
    await left
    clearInterval(checks)
  })

  test('is at once where nobody has asked for anything', async (t) => {
    const { app } = await build(t)
    await app.inject({ url: '/ready' })
    await app.readiness.leave(60)
  })
})

/** The database is asked once a second at most. */
async function notReady(app: App) {
  const answer = await until(
    async () => {
      const asked = await app.inject({ url: '/ready' })
      return asked.statusCode !== 200 && asked
    },
    { missing: 'it is still ready' },
  )
  assert.equal(answer.statusCode, 503)
  return answer
}

test('HEAD asks for the status alone', async (t) => {
  const { app } = await build(t)
  for (const url of ['/health', '/ready', '/auth/v1/health']) {
    const answer = await app.inject({ method: 'HEAD', url })
    assert.equal(answer.statusCode, 200, url)
    assert.equal(answer.body, '')
  }
})
