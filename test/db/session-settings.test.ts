/** Settings of the database or the role do not change what is read and written. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { cloneDatabase } from '../support/database.ts'
import { lockUserRow } from '../support/locked-user.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { changeUser, getUser, refresh, statusAndCode } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { autoconfirm, bodyOf200, newAddress, signIn, signUpUser } from '../support/users.ts'
import { query } from './sql.ts'

/** Each on one database: settings of different kinds, and each value in one of them. */
const databases = [
  [
    "default_transaction_isolation = 'repeatable read'",
    "datestyle = 'SQL, DMY'",
    "timezone = 'America/St_Johns'",
    'intervalstyle = sql_standard',
    'bytea_output = escape',
    'standard_conforming_strings = off',
  ],
  ['default_transaction_isolation = serializable', "datestyle = 'German'"],
]

for (const settings of databases) {
  suite(`database settings: ${settings.join(', ')}`, () => {
    const ending = endingOfSuite()
    let app: App
    before(async () => {
      const database = await cloneDatabase()
      await alter(database.url, settings)
      app = (await build(ending, { database, env: autoconfirm })).app
    })

    test('do not affect times and lists', async () => {
      const since = Date.now()

      const account = await signUpUser(app)
      const user: User = bodyOf200(await getUser(app, account))
      const times = [user.created_at, user.email_confirmed_at, user.identities?.[0]?.created_at]
      for (const time of times) {
        const at = Date.parse(time ?? '')
        assert.ok(at >= since && at <= Date.now(), time ?? 'no time')
      }
      const list = await adminCall<{ users: User[] }>(app, 'GET', '/admin/users')
      assert.equal(list.users[0]?.created_at, user.created_at)
      bodyOf200(await refresh(app, account.refresh_token))

      await adminCall(app, 'PUT', `/admin/users/${user.id}`, { ban_duration: '24h' })
      const rejected = statusAndCode(await signIn(app, { email: account.email }))
      assert.match(JSON.stringify(rejected), /user_banned/)
    })

    test('a request that waited for another sees its changes', async () => {
      const { email, user, access_token, refresh_token } = await signUpUser(app)
      const lock = await lockUserRow(app, user.id)
      const requested = [
        await lock.queue(1, () => signIn(app, { email })),
        await lock.queue(2, () => changeUser(app, access_token, { data: { color: 'blue' } })),
      ]
      await lock.query('update auth.users set updated_at = now() where id = $1', [user.id])
      await lock.release()
      for (const { response } of requested) assert.equal((await response).statusCode, 200)

      const twice = await Promise.all([refresh(app, refresh_token), refresh(app, refresh_token)])
      assert.deepEqual(
        twice.map(({ statusCode }) => statusCode),
        [200, 200],
      )
    })

    test('a request that waited for the end of its session is rejected', async () => {
      const { user, access_token } = await signUpUser(app)
      const lock = await lockUserRow(app, user.id)
      const change = { email: newAddress() }
      const requested = await lock.queue(1, () => changeUser(app, access_token, change))
      await lock.query('delete from auth.sessions where user_id = $1', [user.id])
      await lock.release()
      assert.deepEqual(statusAndCode(await requested.response), [403, 'session_not_found'])
    })
  })
}

async function alter(url: string, settings: string[]): Promise<void> {
  const database = new URL(url).pathname.slice(1)
  await query(url, ...settings.map((setting) => `alter database ${database} set ${setting}`))
}
