/** GET /admin/statistics: the figures of the console's overview. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Statistics } from '../../../schemas/console/statistics.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, signIn, signUpUser } from '../../support/users.ts'

const read = (app: App, range = '24h') =>
  adminCall<Statistics>(app, 'GET', `/admin/statistics?range=${range}`)

suite('GET /admin/statistics', () => {
  test('counts sign-ins per hour by method and outcome', async (t) => {
    // No hour ends during the test.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { app } = await build(t, { env: withConsole })
    const { email } = await signUpUser(app)
    await signIn(app, { email })
    await signIn(app, { email, password: 'a wrong password' })
    const { sign_ins, buckets, users, sessions, ...rest } = await read(app)
    assert.equal(buckets.length, 24)
    const found = sign_ins.map(({ method, outcome, total }) => [method, outcome, total])
    assert.deepEqual(found, [
      ['password', 'failed', 1],
      ['password', 'success', 2],
    ])
    for (const { counts, total } of sign_ins) assert.equal(counts.at(-1), total)
    assert.deepEqual([users.total, users.exact, users.new.at(-1)?.count], [1, true, 1])
    assert.deepEqual(sessions, { active: 2, exact: true })
    assert.equal(rest.keys[0]?.state, 'current')
    assert.equal(rest.keys[0]?.age_days, 0)
    assert.deepEqual(rest.mail, { waiting: 0, dead: 0, oldest_waiting: null })
  })

  test('sums the counts of all replicas in buckets of six hours and of days', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const hours = [0, 1, 30, 24 * 20, 24 * 31]
    for (const [i, ago] of hours.entries()) {
      const hour = new Date(Date.now() - ago * 3_600_000)
      const row = { kind: 'sign_in' as const, name: 'otp', outcome: 'success', count: 10 ** i }
      await app.db
        .insertInto('postern_usage_counts')
        .values({ ...row, hour })
        .execute()
    }
    const week = await read(app, '7d')
    assert.equal(week.buckets.length, 28)
    assert.equal(week.sign_ins[0]?.total, 111)
    const month = await read(app, '30d')
    assert.equal(month.buckets.length, 30)
    assert.equal(month.sign_ins[0]?.total, 1111)
    assert.equal(
      month.sign_ins[0]?.counts.reduce((sum, count) => sum + count),
      1111,
    )
  })

  test('counts requests that a limit rejected', async (t) => {
    const limits = { AUTH_RATE_LIMIT_OTP: '1', AUTH_RATE_LIMIT_HEADER: 'x-real-ip' }
    const { app } = await build(t, { env: { ...withConsole, ...limits } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    const recover = () => call(app, '/recover', { email: newAddress() }, { headers })
    for (let i = 0; i < 40; i++) if ((await recover()).statusCode === 429) break
    const { limits: rejected } = await read(app)
    assert.equal(rejected.length, 1)
    assert.equal(rejected[0]?.total, 1)
  })

  test('rejects an unknown range', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const response = await asAdmin(app, 'GET', '/admin/statistics?range=1y')
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })
})
