/** Postgres `infinity` in time columns, as operators set them manually, is returned in a readable form. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { userWithTotp } from '../support/factors/factors.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { getUser, refresh, statusAndCode } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { autoconfirm, bodyOf200, signedIn, signIn, signUpUser } from '../support/users.ts'
import { allEvents } from '../support/webhooks/events.ts'

/** Their values in Postgres and in responses: the last and first time that each client can parse. */
const shown = {
  infinity: '9999-12-31T23:59:59.999Z',
  '-infinity': '0001-01-01T00:00:00.000Z',
}

const userTimes = Object.keys(User.properties).filter(
  (name) => name.endsWith('_at') && name !== 'confirmed_at' && name !== 'deleted_at',
)

const write = (app: App, table: string, columns: readonly string[], time: string) =>
  sql`update auth.${sql.raw(table)} set ${sql.raw(columns.map((name) => `${name} = '${time}'`).join())}`.execute(
    app.db,
  )

suite('infinite times', () => {
  const serverFor = sharedServers()

  /** Each test changes all users that are there. */
  async function withoutUsers(): Promise<App> {
    const { app } = await serverFor(autoconfirm)
    await app.db.deleteFrom('users').execute()
    return app
  }

  test('a ban until infinity is applied and shown', async () => {
    const app = await withoutUsers()
    const { email, user } = await signUpUser(app)
    await write(app, 'users', ['banned_until'], 'infinity')
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_banned'])
    const one = await adminCall(app, 'GET', `/admin/users/${user.id}`)
    assert.equal(one.banned_until, shown.infinity)
    const lifted = await adminCall(app, 'PUT', `/admin/users/${user.id}`, { ban_duration: 'none' })
    assert.equal(lifted.banned_until, undefined)
  })

  test('an event contains an infinite ban in the same form', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_EVENTS_ENABLED: 'true' } })
    const { user } = await signUpUser(app)
    await write(app, 'users', ['banned_until'], 'infinity')
    await write(app, 'users', ['email_confirmed_at'], '-infinity')
    await adminCall(app, 'PUT', `/admin/users/${user.id}`, { user_metadata: { seen: true } })
    const reported = (await allEvents(app, user.id, 1, 'user.updated')).at(-1)?.data.user
    const { banned_until, email_confirmed_at, phone_confirmed_at } =
      reported ?? assert.fail('no event')
    assert.deepEqual(
      [banned_until, email_confirmed_at, phone_confirmed_at],
      [shown.infinity, shown['-infinity'], null],
    )
  })

  for (const direction of ['asc', 'desc']) {
    test(`lists users created at infinity, ${direction}`, async () => {
      const app = await withoutUsers()
      const ids: string[] = []
      for (let made = 0; made < 5; made++) ids.push((await signUpUser(app)).user.id)
      for (const [index, time] of ['infinity', 'infinity', '-infinity', '-infinity'].entries()) {
        await sql`update auth.users set created_at = ${sql.lit(time)} where id = ${ids[index]}`.execute(
          app.db,
        )
      }
      const listed: string[] = []
      let cursor = ''
      while (listed.length < 10) {
        const query = new URLSearchParams({ limit: '1', sort: `created_at ${direction}`, cursor })
        const page = await adminCall<{ users: User[]; next_cursor?: string }>(
          app,
          'GET',
          `/admin/users?${query}`,
        )
        listed.push(...page.users.map(({ id }) => id))
        if (!page.next_cursor) break
        cursor = page.next_cursor
      }
      assert.deepEqual(listed.toSorted(), ids.toSorted())
    })
  }

  for (const [time, moment] of Object.entries(shown)) {
    test(`shows ${time} in each column of a user`, async () => {
      const app = await withoutUsers()
      const { session, email } = await userWithTotp(app)
      await write(app, 'users', userTimes, time)
      await write(app, 'identities', ['last_sign_in_at', 'created_at', 'updated_at'], time)
      await write(app, 'mfa_factors', ['created_at', 'updated_at', 'last_challenged_at'], time)
      await write(app, 'sessions', ['created_at', 'updated_at'], time)

      const user: User = bodyOf200(await getUser(app, session))
      const { factors: [factor] = [], identities } = user
      const times = [
        ...userTimes.map((name) => Object(user)[name]),
        identities?.[0]?.last_sign_in_at,
        identities?.[0]?.created_at,
        factor?.created_at,
        factor?.last_challenged_at,
      ]
      assert.deepEqual(new Set(times), new Set([moment]))

      const path = `/admin/users/${user.id}`
      assert.deepEqual(await adminCall(app, 'GET', path), user)
      for (const query of ['per_page=50', 'limit=50']) {
        const { users } = await adminCall<{ users: User[] }>(app, 'GET', `/admin/users?${query}`)
        const listed = users.find(({ id }) => id === user.id)
        assert.equal(listed?.created_at, moment)
        assert.equal(listed?.last_sign_in_at, moment)
      }
      bodyOf200(await refresh(app, session.refresh_token))
      await signedIn(app, email)
      await adminCall(app, 'PUT', path, { user_metadata: { a: 1 } })
      await adminCall(app, 'GET', `${path}/factors`)
      await adminCall(app, 'GET', `${path}/sessions`)
      await adminCall(app, 'DELETE', path)
    })
  }
})
