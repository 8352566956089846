/** A correct password never counts as a failure, however many sign-ins race. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { delayResponses } from '../../support/late-responses.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { unnamedStatements } from '../../support/statements.ts'
import { autoconfirm, signIn, signUpUser } from '../../support/users.ts'

suite('racing sign-ins with the correct password', () => {
  const servers = sharedServers()

  test('accepts 200 racing sign-ins and counts no failure', async () => {
    const { app } = await servers(autoconfirm)
    const { email } = await signUpUser(app)
    const responses = await Promise.all(Array.from({ length: 200 }, () => signIn(app, { email })))
    const statuses = new Set(responses.map(({ statusCode }) => statusCode))
    assert.deepEqual([...statuses], [200])
    const { rows } = await app.pool.query(
      'select failures, day_failures from auth.postern_throttles',
    )
    for (const row of rows) assert.deepEqual(row, { failures: 0, day_failures: 0 })
  })

  test('accepts 50 racing sign-ins from new devices', async () => {
    const { app } = await servers(autoconfirm)
    const { email } = await signUpUser(app)
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => signIn(app, { email }, { 'user-agent': `app ${n}` })),
    )
    assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [200])
  })

  test('accepts a sign-in started after a ban was lifted while one started during the ban is running', async () => {
    const { app } = await servers({ ...autoconfirm, ...unnamedStatements })
    const { user, email } = await signUpUser(app)
    const ban = (ban_duration: string) =>
      adminCall(app, 'PUT', `/admin/users/${user.id}`, { ban_duration })
    await ban('24h')
    // Only the first look-up is late: the row it returns is banned.
    const delays = [500]
    const lookedUp = Promise.withResolvers<void>()
    delayResponses(app, 'postern_throttles', () => {
      lookedUp.resolve()
      return delays.pop() ?? 0
    })
    const before = signIn(app, { email })
    await lookedUp.promise
    await ban('none')
    const after = await signIn(app, { email })
    assert.equal((await before).statusCode, 400)
    assert.equal(after.statusCode, 200, after.body)
  })
})
