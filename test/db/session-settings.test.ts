/** What an operator has set for the database or the login changes nothing of what is read and written. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import pg from 'pg'

import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { cloneDatabase } from '../support/database.ts'
import { answerOf, autoconfirm, newPerson, signIn } from '../support/people.ts'
import { getUser, outcomeOf, refresh } from '../support/requests.ts'
import { build } from '../support/server.ts'

const settings = [
  "datestyle = 'SQL, DMY'",
  "datestyle = 'German'",
  "timezone = 'America/St_Johns'",
  'intervalstyle = sql_standard',
  'bytea_output = escape',
  'standard_conforming_strings = off',
]

suite('settings of the database', () => {
  for (const setting of settings) {
    test(setting, async (t) => {
      const database = await cloneDatabase()
      await alter(database.url, setting)
      const { app } = await build(t, { database, env: autoconfirm })
      const since = Date.now()

      const person = await newPerson(app)
      const user: User = answerOf(await getUser(app, person))
      const times = [user.created_at, user.email_confirmed_at, user.identities?.[0]?.created_at]
      for (const time of times) {
        const at = Date.parse(time ?? '')
        assert.ok(at >= since && at <= Date.now(), time ?? 'no time')
      }
      const list = await adminCall<{ users: User[] }>(app, 'GET', '/admin/users')
      assert.equal(list.users[0]?.created_at, user.created_at)
      answerOf(await refresh(app, person.refresh_token))

      await adminCall(app, 'PUT', `/admin/users/${user.id}`, { ban_duration: '24h' })
      const refused = outcomeOf(await signIn(app, { email: person.email }))
      assert.match(JSON.stringify(refused), /user_banned/)
    })
  }
})

async function alter(url: string, setting: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`)
  await client.end()
}
