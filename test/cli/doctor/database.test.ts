/** The doctor’s checks of the database and its keys. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { checkDatabase } from '../../../cli/doctor/database.ts'
import { checkKeys } from '../../../cli/doctor/keys.ts'
import { findConnectionLimit, warnOfConnections } from '../../../server/connections.ts'
import { migrated, query } from '../../db/sql.ts'
import { cloneDatabase, emptyDatabase } from '../../support/database.ts'
import { build } from '../../support/server.ts'
import { createDoctorContext, createLogin, runCheck } from './doctor-context.ts'

suite('doctor: database', () => {
  test('checks a migrated database as a superuser', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    const levels = lines.map((line) => line.split(' ')[0])
    assert.deepEqual(levels, ['pass', 'pass', 'warn', 'pass', 'pass', 'pass'], lines.join('\n'))
    assert.match(lines[0] ?? '', /It is Postgres 1\d\./)
    assert.match(lines[2] ?? '', /is a superuser/)
    assert.match(lines[3] ?? '', /All \d+ migrations are applied/)
    assert.match(lines[5] ?? '', /clock agrees with that of this machine/)
  })

  test('warns about pending migrations of an empty database', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    assert.ok(
      lines.some((line) => /^warn \d+ migrations are pending/.test(line)),
      lines.join('\n'),
    )
    assert.ok(!lines.some((line) => line.startsWith('fail')))
  })

  test('fails for a schema of a newer version', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    await query(
      DATABASE_URL,
      `insert into auth.postern_migrations values ('9999-later', '')`,
      `update auth.postern_schema_floor set migration = '9999-later'`,
    )
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    assert.ok(lines.some((line) => /^fail .*newer version.*9999-later/.test(line)))
  })

  test('fails for a role that cannot change the schema', async (t) => {
    const { url } = await cloneDatabase(t)
    const { name, url: DATABASE_URL } = await createLogin(t, url)
    await query(
      url,
      `grant usage on schema auth to ${name}`,
      `grant select on auth.postern_migrations, auth.postern_encryption_probe to ${name}`,
    )
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    assert.deepEqual(lines, [
      `fail The login ${name} does not own the tables of the schema auth, and row-level security hides their rows from it: connect as their owner postgres, or run as a superuser: grant postgres to ${name};`,
    ])
  })

  test('fails for a role that may not create tables in the schema, as the start does', async (t) => {
    const { url } = await emptyDatabase(t)
    const { name, url: DATABASE_URL } = await createLogin(t, url)
    await query(url, 'create schema auth', `grant usage on schema auth to ${name}`)
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    const failed = lines.flatMap((line) => /^fail (.* schema .*)/.exec(line)?.[1] ?? [])
    assert.deepEqual(failed, [
      `The login ${name} may not create tables in the schema auth: connect as its owner postgres, or run as this role or a superuser: grant usage, create on schema auth to ${name};`,
      `The login ${name} may not create tables in the schema auth_jobs of the job queue: run as the owner of the database or a superuser: create schema auth_jobs authorization ${name};`,
    ])
    const message = `The database of DATABASE_URL cannot be used. ${failed.join(' ')}`
    await assert.rejects(migrated(DATABASE_URL), { message })
  })

  test('fails for a pool above the connection limit of the database', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const context = createDoctorContext(t, { DATABASE_URL, AUTH_DB_MAX_POOL_SIZE: '9000' })
    const lines = await runCheck(checkDatabase, context)
    assert.ok(lines.some((line) => /^fail It allows \d+ connections, .* 9003/.test(line)))
  })

  test('fails for a pool above the connection limit of the role, like the start', async (t) => {
    const { url } = await cloneDatabase(t)
    const { name, url: DATABASE_URL } = await createLogin(t, url)
    await query(url, `alter role ${name} connection limit 20`, `grant postgres to ${name}`)
    const context = createDoctorContext(t, { DATABASE_URL, AUTH_DB_MAX_POOL_SIZE: '20' })

    const lines = await runCheck(checkDatabase, context)
    const warnings: string[] = []
    const warn = (message: unknown) => void warnings.push(String(message))
    warnOfConnections(context.config, await findConnectionLimit(DATABASE_URL), { warn })

    assert.ok(
      lines.some((line) => /^fail It allows 20 connections, /.test(line)),
      lines.join('\n'),
    )
    assert.match(warnings.join(), /may open 23 connections, but Postgres allows 20 /)
  })

  test('fails for a clock skew of minutes', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const context = createDoctorContext(t, { DATABASE_URL })
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 300_000 })
    const lines = await runCheck(checkDatabase, context)
    assert.match(
      lines.at(-1) ?? '',
      /^fail The clock of the database is (299|300) s behind this server: run NTP/,
    )
  })

  test('reports an unknown database with the Postgres error', async (t) => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.pathname = '/postern_missing'
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL: url.href }))
    assert.match(lines.join(), /^fail The database .*postern_missing" does not exist\)/)
    assert.ok(!lines.join().includes(url.password || 'no password'))
  })

  test('reports an unreachable database without the password', async (t) => {
    const DATABASE_URL = 'postgres://ann:secret-word@127.0.0.1:9/auth'
    const lines = await runCheck(checkDatabase, createDoctorContext(t, { DATABASE_URL }))
    assert.match(lines.join('\n'), /^fail The database of DATABASE_URL cannot .*\(ECONNREFUSED\)/)
    assert.doesNotMatch(lines.join(), /secret-word/)
  })
})

suite('doctor: keys', () => {
  const key = () => randomBytes(32).toString('base64url')
  const own = { AUTH_JWT_ALGORITHM: 'ES256', AUTH_ENCRYPTION_KEY: key() }

  test('passes for the keys of a server that has run', async (t) => {
    const { database: made } = await build(t, { env: own })
    const context = createDoctorContext(t, { ...own, DATABASE_URL: made.url })
    assert.deepEqual(await runCheck(checkKeys, context), [
      'pass The signing key (ES256) is 0 days old.',
      'pass Stored data has its own encryption key.',
    ])
    const lines = await runCheck(checkDatabase, context)
    assert.ok(lines.includes('pass The encryption key decrypts the stored data.'), lines.join('\n'))

    const later = { ...context, now: new Date(Date.now() + 200 * 86_400_000) }
    assert.match(
      (await runCheck(checkKeys, later))[0] ?? '',
      /^warn .* 200 days old: run npm run keys/,
    )

    const other = { ...own, AUTH_ENCRYPTION_KEY: key(), DATABASE_URL: made.url }
    const wrong = await runCheck(checkDatabase, createDoctorContext(t, other))
    assert.ok(wrong.some((line) => /^fail The stored data cannot be decrypted/.test(line)))
  })

  test('warns about a shared secret without an encryption key', async (t) => {
    const lines = await runCheck(checkKeys, createDoctorContext(t, { AUTH_JWT_ALGORITHM: 'HS256' }))
    assert.match(lines[0] ?? '', /^warn Tokens are signed with AUTH_JWT_SECRET/)
    assert.match(lines[1] ?? '', /^warn AUTH_ENCRYPTION_KEY is not set/)
  })
})
