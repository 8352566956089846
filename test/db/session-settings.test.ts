/** What an operator has set for the database or the login changes nothing of what is read and written. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { cloneDatabase } from '../support/database.ts'
import { holdPerson } from '../support/held-person.ts'
import { answerOf, autoconfirm, newAddress, newPerson, signIn } from '../support/people.ts'
import { changeUser, getUser, outcomeOf, refresh } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { query } from './sql.ts'

const settings = [
  "datestyle = 'SQL, DMY'",
  "datestyle = 'German'",
  "timezone = 'America/St_Johns'",
  'intervalstyle = sql_standard',
  'bytea_output = escape',
  'standard_conforming_strings = off',
  "default_transaction_isolation = 'repeatable read'",
  'default_transaction_isolation = serializable',
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

  for (const isolation of ['repeatable read', 'serializable']) {
    test(`${isolation}: who has waited for somebody else goes by what they left`, async (t) => {
      const database = await cloneDatabase()
      await alter(database.url, `default_transaction_isolation = '${isolation}'`)
      const { app } = await build(t, { database, env: autoconfirm })
      const { email, user, access_token, refresh_token } = await newPerson(app)
      const held = await holdPerson(app, user.id)
      const asked = [
        await held.queue(1, () => signIn(app, { email })),
        await held.queue(2, () => changeUser(app, access_token, { data: { color: 'blue' } })),
      ]
      await held.query('update auth.users set updated_at = now() where id = $1', [user.id])
      await held.release()
      for (const { answer } of asked) assert.equal((await answer).statusCode, 200)

      const twice = await Promise.all([refresh(app, refresh_token), refresh(app, refresh_token)])
      assert.deepEqual(
        twice.map(({ statusCode }) => statusCode),
        [200, 200],
      )
    })

    test(`${isolation}: who has waited for the end of their session is refused`, async (t) => {
      const database = await cloneDatabase()
      await alter(database.url, `default_transaction_isolation = '${isolation}'`)
      const { app } = await build(t, { database, env: autoconfirm })
      const { user, access_token } = await newPerson(app)
      const held = await holdPerson(app, user.id)
      const change = { email: newAddress() }
      const asked = await held.queue(1, () => changeUser(app, access_token, change))
      await held.query('delete from auth.sessions where user_id = $1', [user.id])
      await held.release()
      assert.deepEqual(outcomeOf(await asked.answer), [403, 'session_not_found'])
    })
  }
})

async function alter(url: string, setting: string): Promise<void> {
  await query(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`)
}
