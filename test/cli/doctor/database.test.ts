/** What the doctor says of the database, and of the keys in it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { database } from '../../../cli/doctor/database.ts'
import { keys } from '../../../cli/doctor/keys.ts'
import { warnOfConnections } from '../../../cli/serve/connections.ts'
import { query } from '../../db/sql.ts'
import { cloneDatabase, emptyDatabase } from '../../support/database.ts'
import { build } from '../../support/server.ts'
import { surroundingsOf, told } from './surroundings.ts'

suite('the doctor on the database', () => {
  test('a migrated one, as a superuser', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL }))
    const levels = lines.map((line) => line.split(' ')[0])
    assert.deepEqual(levels, ['pass', 'pass', 'warn', 'pass', 'pass', 'pass'], lines.join('\n'))
    assert.match(lines[0] ?? '', /It is Postgres 1\d\./)
    assert.match(lines[2] ?? '', /is a superuser/)
    assert.match(lines[3] ?? '', /All \d+ migrations are done/)
    assert.match(lines[5] ?? '', /clock and ours agree/)
  })

  test('an empty one', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL }))
    assert.ok(
      lines.some((line) => /^warn \d+ migrations are to come/.test(line)),
      lines.join('\n'),
    )
    assert.ok(!lines.some((line) => line.startsWith('fail')))
  })

  test('one of a newer program', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    await query(
      DATABASE_URL,
      `insert into auth.postern_later_migrations values ('9999-later', '')`,
      `update auth.postern_schema_floor set migration = '9999-later'`,
    )
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL }))
    assert.ok(lines.some((line) => /^fail .*newer version.*9999-later/.test(line)))
  })

  test('a login that may not change the schema', async (t) => {
    const { url } = await cloneDatabase(t)
    const [name, password] = [`doctor_${randomBytes(4).toString('hex')}`, 'x']
    await query(url, `create role ${name} login password '${password}'`)
    // After the database, which is dropped first.
    t.after(() => query(process.env.TEST_ADMIN_URL ?? '', `drop role ${name}`))
    await query(
      url,
      `grant usage on schema auth to ${name}`,
      `grant select on auth.postern_migrations, auth.postern_later_migrations,
        auth.postern_encryption_probe to ${name}`,
    )
    const DATABASE_URL = Object.assign(new URL(url), { username: name, password }).href
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL }))
    assert.deepEqual(lines, [
      `fail The login ${name} does not own the tables of the schema "auth", and row-level security hides their rows from it: connect as their owner.`,
    ])
  })

  test('a pool that is larger than the database takes', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const surroundings = surroundingsOf(t, { DATABASE_URL, AUTH_DB_MAX_POOL_SIZE: '9000' })
    const lines = await told(database, surroundings)
    assert.ok(lines.some((line) => /^fail It takes \d+ connections, .* 9003/.test(line)))
  })

  test('a login that may have fewer connections than its pool, as the start says, too', async (t) => {
    const { url } = await cloneDatabase(t)
    const [name, password] = [`few_${randomBytes(4).toString('hex')}`, 'x']
    await query(
      url,
      `create role ${name} login password '${password}' connection limit 20`,
      `grant postgres to ${name}`,
    )
    t.after(() => query(process.env.TEST_ADMIN_URL ?? '', `drop role ${name}`))
    const DATABASE_URL = Object.assign(new URL(url), { username: name, password }).href
    const surroundings = surroundingsOf(t, { DATABASE_URL })

    const lines = await told(database, surroundings)
    const warnings: string[] = []
    const warn = (message: unknown) => void warnings.push(String(message))
    await warnOfConnections(surroundings.config, { warn })

    assert.ok(
      lines.some((line) => /^fail It takes 20 connections, /.test(line)),
      lines.join('\n'),
    )
    assert.match(warnings.join(), /may open 23 connections, and Postgres has 20 /)
  })

  test('a clock that is wrong by minutes', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const surroundings = surroundingsOf(t, { DATABASE_URL })
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 300_000 })
    const lines = await told(database, surroundings)
    assert.match(
      lines.at(-1) ?? '',
      /^fail The clock of the database is (299|300) s behind ours: run NTP/,
    )
  })

  test('a name that no database has, in the words of Postgres', async (t) => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.pathname = '/postern_nobody_made_this'
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL: url.href }))
    assert.match(lines.join(), /^fail The database .*postern_nobody_made_this" does not exist\)/)
    assert.ok(!lines.join().includes(url.password || 'no password'))
  })

  test('nobody listens, and the password is not told', async (t) => {
    const DATABASE_URL = 'postgres://ann:secret-word@127.0.0.1:9/auth'
    const lines = await told(database, surroundingsOf(t, { DATABASE_URL }))
    assert.match(lines.join('\n'), /^fail The database of DATABASE_URL cannot .*\(ECONNREFUSED\)/)
    assert.doesNotMatch(lines.join(), /secret-word/)
  })
})

suite('the doctor on keys', () => {
  const key = () => randomBytes(32).toString('base64url')
  const own = { AUTH_JWT_ALGORITHM: 'ES256', AUTH_ENCRYPTION_KEY: key() }

  test('of a server that has run: they are young, and fit', async (t) => {
    const { database: made } = await build(t, { env: own })
    const surroundings = surroundingsOf(t, { ...own, DATABASE_URL: made.url })
    assert.deepEqual(await told(keys, surroundings), [
      'pass The signing key (ES256) is 0 days old.',
      'pass What is stored has an encryption key of its own.',
    ])
    const lines = await told(database, surroundings)
    assert.ok(lines.includes('pass The encryption key fits what is stored.'), lines.join('\n'))

    const later = { ...surroundings, now: new Date(Date.now() + 200 * 86_400_000) }
    assert.match((await told(keys, later))[0] ?? '', /^warn .* 200 days old: run npm run keys/)

    const other = { ...own, AUTH_ENCRYPTION_KEY: key(), DATABASE_URL: made.url }
    const wrong = await told(database, surroundingsOf(t, other))
    assert.ok(wrong.some((line) => /^fail What this database holds cannot be decrypted/.test(line)))
  })

  for (const [what, make] of [
    ['empty', emptyDatabase],
    ['migrated', cloneDatabase],
  ] as const) {
    test(`a new database (${what}), and no key of its own: the start would refuse`, async (t) => {
      const { url: DATABASE_URL } = await make(t)
      const lines = await told(keys, surroundingsOf(t, { DATABASE_URL }))
      assert.match(
        lines.at(-1) ?? '',
        /^fail AUTH_ENCRYPTION_KEY is not set, and this database is new/,
      )
    })
  }

  test('a shared secret, and no key of its own', async (t) => {
    const lines = await told(keys, surroundingsOf(t, { AUTH_JWT_ALGORITHM: 'HS256' }))
    assert.match(lines[0] ?? '', /^warn Tokens are signed with AUTH_JWT_SECRET/)
    assert.match(lines[1] ?? '', /^warn AUTH_ENCRYPTION_KEY is not set/)
  })
})
