/** Statements and round trips of the hot paths, beside those of busiest-requests.test.ts. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { withClient } from '../../server/with-client.ts'
import { asAdmin } from '../support/admin.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { until } from '../support/processes/until.ts'
import { refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { isBackgroundStatement, recordTrips, watchStatements } from '../support/statements.ts'
import {
  adminCreatedUser,
  autoconfirm,
  newAddress,
  password,
  signIn,
  signUp,
  signUpUser,
} from '../support/users.ts'

/** Statements prepared on the single connection are pipelined. */
const oneConnection = { AUTH_DB_MAX_POOL_SIZE: '1' }

suite('round trips', () => {
  const serverFor = sharedServers()

  test('a refresh with all session limits takes one statement', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SESSIONS_TIMEBOX: '24h',
      AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h',
      AUTH_SESSIONS_SINGLE_PER_USER: 'true',
      AUTH_SESSIONS_TAGS: 'web,phone',
    })
    const { refresh_token } = await signUpUser(app)
    const statements = await watchStatements(app, () => refresh(app, refresh_token))
    assert.equal(statements.length, 1, statements.join('\n'))
  })

  test('a forged refresh token takes no statement', async () => {
    const { app } = await serverFor(autoconfirm)
    const { refresh_token } = await signUpUser(app)
    const statements = await watchStatements(app, () => refresh(app, refresh_token.slice(0, -1)))
    assert.deepEqual(statements, [])
  })

  test('a sign-up with an email takes four round trips, also when repeated or taken', async () => {
    const { app } = await serverFor(oneConnection)
    const repeated = newAddress()
    const taken = await takenAddress(app)
    for (const email of [repeated, repeated, taken]) await signedUp(app, email)
    for (const email of [newAddress(), repeated, taken]) {
      const trips = await recordTrips(app, () => signedUp(app, email))
      assert.equal(trips.length, 4, trips.join('\n'))
    }
  })

  test('an autoconfirmed sign-up takes six round trips', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    await signedUp(app, newAddress())
    const trips = await recordTrips(app, () => signedUp(app, newAddress()))
    assert.equal(trips.length, 6, trips.join('\n'))
  })

  test('concurrent numbered pages of users share one count statement', async () => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_DB_MAX_POOL_SIZE: '6' })
    const pages = [1, 2, 3].map((page) => `/admin/users?per_page=1&page=${page}`)
    for (const _ of pages) await signUpUser(app)
    const statements = await withClient({ connectionString: app.config.DATABASE_URL }, (locker) =>
      watchStatements(app, async () => {
        await locker.query('begin; lock table auth.users in access exclusive mode')
        const responses = pages.map((url) => asAdmin(app, 'GET', url))
        // The pages and the first count; the second count begins when the first has ended. A background statement may
        // wait too, until its time is over.
        await until(async () => {
          await locker.query('select pg_stat_clear_snapshot()')
          const { rows } = await locker.query<{ query: string }>(
            `select query from pg_locks join pg_stat_activity using (pid)
              where not granted and relation = 'auth.users'::regclass`,
          )
          return rows.filter(({ query }) => !isBackgroundStatement(query)).length === 4
        })
        await locker.query('commit')
        for (const { statusCode } of await Promise.all(responses)) assert.equal(statusCode, 200)
      }),
    )
    const counts = statements.filter((statement) => statement.includes('count(*)'))
    assert.deepEqual([counts.length, statements.length], [2, 5])
  })

  test('a wrong password takes one statement, known account or not', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await signUpUser(app)
    for (const address of [email, 'nobody@example.com']) {
      const wrong = { email: address, password: `not ${password}` }
      const statements = await watchStatements(app, () => signIn(app, wrong))
      assert.equal(statements.length, 1, statements.join('\n'))
    }
  })
})

async function signedUp(app: App, email: string): Promise<void> {
  const { statusCode, body } = await signUp(app, { email })
  assert.equal(statusCode, 200, body)
}

async function takenAddress(app: App): Promise<string> {
  const { email } = await adminCreatedUser(app, {
    email: newAddress(),
    password,
    email_confirm: true,
  })
  assert.ok(email)
  return email
}
