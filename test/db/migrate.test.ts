import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

import { migrationState, SchemaTooNewError } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { columns, migrated, query } from './sql.ts'

const names = Object.keys(migrations)

suite('migrate', () => {
  test('six at once on an empty database make one schema', async (t) => {
    const { url } = await emptyDatabase(t)

    await Promise.all(Array.from({ length: 6 }, () => migrated(url)))

    const applied = await query(url, 'select name from auth.postern_migrations order by name')
    assert.deepEqual(
      applied.map((row) => row.name),
      names,
    )
    assert.deepEqual(await columns(url), await columns((await cloneDatabase(t)).url))
  })

  test('a second run changes nothing', async (t) => {
    const { url } = await cloneDatabase(t)
    const before = await query(url, 'select * from auth.postern_migrations order by name')

    await migrated(url)

    const after = await query(url, 'select * from auth.postern_migrations order by name')
    assert.deepEqual(after, before)
  })

  test('a schema of a newer program is refused and left alone', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, `insert into auth.postern_migrations values ('9999-later', now()::text)`)

    await assert.rejects(migrated(url), (error) => {
      assert.ok(error instanceof SchemaTooNewError)
      assert.match(error.message, /"auth" was migrated by a newer version.*9999-later/)
      return true
    })
  })

  test('a run after one that failed goes on where that stood', async (t) => {
    const { url } = await emptyDatabase(t)
    // Stands in the way of the job queue's schema, which comes last.
    await query(url, 'create schema auth_jobs', 'create table auth_jobs.migrations (id text)')

    await assert.rejects(migrated(url))

    await query(url, 'drop schema auth_jobs cascade')
    await migrated(url)
    assert.deepEqual(await columns(url), await columns((await cloneDatabase(t)).url))
  })
})

suite('migrationState', () => {
  test('an empty database has everything to come', async (t) => {
    const { url } = await emptyDatabase(t)
    assert.deepEqual(await stateOf(t, url), { applied: [], pending: names, unknown: [] })
  })

  test('a migrated one has nothing to come', async (t) => {
    const { url } = await cloneDatabase(t)
    assert.deepEqual(await stateOf(t, url), { applied: names, pending: [], unknown: [] })
  })
})

function stateOf(t: TestContext, url: string) {
  const pool = new pg.Pool({ connectionString: url })
  // The database is dropped at the end of the test, with this connection on it.
  pool.on('error', () => {})
  t.after(() => pool.end())
  return migrationState(new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }), 'auth')
}
