/** Lists serialize users in Postgres: byte for byte as the endpoints of one user do. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { User } from '../../../schemas/user.ts'
import { withClient } from '../../../server/with-client.ts'
import { asAdmin } from '../../support/admin.ts'
import { cloneDatabase } from '../../support/database.ts'
import { build } from '../../support/server.ts'

/** Columns of users, as SQL. */
const accounts: Record<string, string>[] = [
  {},
  { email: `'plain@example.com'`, phone: `'15550000001'`, role: `'authenticated'` },
  // Characters that JSON escapes, and some that need no escape.
  {
    email: `E'"quoted\\\\"@example.com'`,
    role: `E'tab\\tline\\nnull'`,
    email_change: `'ü€😀@example.com'`,
  },
  { phone_change: `'15550000002'`, email_change: `''`, is_anonymous: 'true' },
  { raw_app_meta_data: `'null'`, raw_user_meta_data: `'{}'` },
  {
    raw_user_meta_data: `'{"deep": {"a": [1.50, -0.1, null, "\\u2028 \\"x\\""], "b": true}, "a": 1}'`,
  },
  { created_at: 'null', updated_at: 'null' },
  ...['', '.1', '.12', '.123', '.1234', '.123456', '.000001'].map((fraction) => ({
    invited_at: `'2026-02-03 04:05:06${fraction}+00'`,
    updated_at: `'2026-07-03 23:59:59${fraction}+02'`,
    banned_until: `'10000-01-01 00:00:00${fraction.slice(0, 4)}+00'`,
  })),
  Object.fromEntries(
    Object.keys(User.properties)
      .filter((name) => name.endsWith('_at') && name !== 'confirmed_at' && name !== 'deleted_at')
      .map((name, index) => [name, `'2026-01-01 00:00:00.0${10 + index}+00'`]),
  ),
]

suite('GET /admin/users: fields', () => {
  for (const zone of ['UTC', 'Asia/Kolkata']) {
    test(`serializes users as GET of one user does, in a database in ${zone}`, async (t) => {
      const database = await cloneDatabase(t)
      await fill(database.url, zone)
      const { app } = await build(t, { database })
      for (const query of ['per_page=100', 'limit=100']) {
        const list = await asAdmin(app, 'GET', `/admin/users?${query}`)
        assert.match(String(list.headers['content-type']), /^application\/json/)
        const { users } = list.json<{ users: User[] }>()
        assert.equal(users.length, accounts.length)
        for (const user of users) {
          const alone = (await asAdmin(app, 'GET', `/admin/users/${user.id}`)).json<User>()
          // The order of the fields, too.
          assert.equal(JSON.stringify(user), JSON.stringify({ ...alone, identities: null }))
        }
      }
    })
  }
})

async function fill(url: string, zone: string): Promise<void> {
  await withClient({ connectionString: url }, async (client) => {
    const name = new URL(url).pathname.slice(1)
    await client.query(`alter database ${name} set timezone to '${zone}'`)
    for (const user of accounts) {
      const columns = {
        instance_id: `'00000000-0000-0000-0000-000000000000'`,
        id: 'gen_random_uuid()',
        aud: `'authenticated'`,
        ...user,
      }
      await client.query(`
        insert into auth.users (${Object.keys(columns)}) values (${Object.values(columns)})`)
    }
  })
}
