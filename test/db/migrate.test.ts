import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

import { runMigrations } from '../../cli/migrate.ts'
import { buildIndexes } from '../../db/migrate/build-indexes.ts'
import { openMigrationDb } from '../../db/migrate/migration-db.ts'
import { migrationState, SchemaTooNewError } from '../../db/migrate.ts'
import { serveFrom } from '../../db/migrations/ensure.ts'
import { migrations } from '../../db/migrations/index.ts'
import { cloneDatabase, emptyDatabase, openPool } from '../support/database.ts'
import { columns, migrated, query } from './sql.ts'

const names = Object.keys(migrations)
const writtenDown = `select name, timestamp from auth.postern_migrations
  union all select name, timestamp from auth.postern_later_migrations order by name`

suite('migrate', () => {
  test('six at once on an empty database make one schema', async (t) => {
    const { url } = await emptyDatabase(t)

    await Promise.all(Array.from({ length: 6 }, () => migrated(url)))

    const applied = await query(url, writtenDown)
    assert.deepEqual(
      applied.map((row) => row.name),
      names,
    )
    assert.deepEqual(await columns(url), await columns((await cloneDatabase(t)).url))
  })

  test('beside somebody who makes and drops tables of their own', async (t) => {
    const { url } = await emptyDatabase(t)
    const others = openPool({ connectionString: url, max: 1 })
    t.after(() => others.end())
    const columns = Array.from({ length: 10 }, (_, index) => `c${index} int`).join()
    let isOver = false
    const busy = (async () => {
      while (!isOver) {
        await others.query(`create table public.theirs (${columns})`)
        await others.query('drop table public.theirs')
      }
    })()

    await migrated(url).finally(() => {
      isOver = true
    })

    await busy
  })

  test('a second run changes nothing', async (t) => {
    const { url } = await cloneDatabase(t)
    const before = await query(url, writtenDown)

    await migrated(url)

    const after = await query(url, writtenDown)
    assert.deepEqual(after, before)
  })

  test('statements of the login that end after a while: the index that takes longer is named, with what to do', async (t) => {
    const { url } = await cloneDatabase(t)
    const [{ name } = {}] = await query(url, 'select current_database() as name')
    await query(
      url,
      'drop index auth.postern_users_email_idx',
      `insert into auth.users (id) values (gen_random_uuid())`,
      `alter database ${name} set statement_timeout = '300ms'`,
    )
    const holder = openPool({ connectionString: url, statement_timeout: 60_000, max: 1 })
    t.after(() => holder.end())
    const client = await holder.connect()
    await client.query('begin')
    await client.query('update auth.users set updated_at = now()')

    await assert.rejects(migrated(url), {
      message:
        /^postern_users_email_idx .*statement_timeout.*alter role .* set statement_timeout = 0/,
    })
    await client.query('commit')
    client.release()
  })

  test('a schema of the next release is served with a warning, and left alone', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      `insert into auth.postern_later_migrations values ('9999-later', now()::text)`,
      'drop index auth.postern_users_email_idx',
    )

    const warnings = await migrated(url)

    assert.match(warnings.join(), /"auth" was migrated by a newer version.*9999-later.*serves on/)
    const index = "select 1 from pg_class where relname = 'postern_users_email_idx'"
    assert.deepEqual(await query(url, index), [])
  })

  test('a schema of a newer program is refused and left alone', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, `update auth.postern_schema_floor set migration = '9999-later'`)
    await query(url, `insert into auth.postern_later_migrations values ('9999-later', now()::text)`)

    await assert.rejects(migrated(url), (error) => {
      assert.ok(error instanceof SchemaTooNewError)
      assert.match(error.message, /"auth" was migrated by a newer version.*9999-later/)
      return true
    })
  })

  test('releases that know no floor are told of nothing but what they cannot serve', async (t) => {
    const { url } = await cloneDatabase(t)
    const told = 'select name from auth.postern_migrations order by name desc limit 1'
    assert.deepEqual(await query(url, told), [{ name: '0026-gotrue-level' }])

    await serveFrom(connected(t, url), '0037-clean-up-runs')

    assert.deepEqual(await query(url, told), [{ name: '0037-clean-up-runs' }])
  })

  test('a statement that waits, and whom it waits for, are named; it is done when they have gone', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      `delete from auth.postern_later_migrations where name = '0031-send-quota-limits'`,
      'alter table auth.postern_send_quotas drop column quota',
    )
    const holder = await connectedHolder(url)
    await holder.query('begin; select * from auth.postern_send_quotas')

    const lines = await linesOfHeldRun(url, holder)

    const [waiting, ...rest] = lines
    assert.match(
      waiting ?? '',
      /^0031-send-quota-limits waits to run "alter table "postern_send_quotas" add column .*": process \d+ of \w+ \(report\), idle in transaction for \d+ s\.$/,
    )
    assert.match(rest.at(-1) ?? '', /^Migrated auth: 0031-send-quota-limits/)
  })

  test('the building of an index, and whom it waits for, are named; it is done when they have gone', async (t) => {
    const { url, holder } = await heldTable(t)

    const lines = await linesOfHeldRun(url, holder)

    assert.match(
      lines[0] ?? '',
      /^postern_users_email_idx waits to run "create index concurrently "postern_users_email_idx" .*": process \d+ of \w+ \(report\), idle in transaction for \d+ s\.$/,
    )
    assert.equal(lines.at(-1), 'Built the index postern_users_email_idx (1 of 1)')
  })

  test('one that waits for too long is given up; what it left is built anew by the next run', async (t) => {
    const { url, holder } = await heldTable(t)
    const pool = openPool({ connectionString: url })
    t.after(() => pool.end())
    const waiting = { ...openMigrationDb(pool), schema: 'auth', log: { info() {} }, patienceMs: 0 }

    await assert.rejects(
      buildIndexes(waiting),
      /^Error: postern_users_email_idx waits to run "create .*": process \d+ of \w+ \(report\), .* s\. It was given up; start again\.$/,
    )
    const left = `select indisvalid as valid from pg_index where indexrelid = 'auth.postern_users_email_idx'::regclass`
    assert.deepEqual(await query(url, left), [{ valid: false }])

    await holder.end()
    assert.deepEqual(await migrated(url), [])
    assert.deepEqual(await query(url, left), [{ valid: true }])
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

/** A database that lacks an index on a table with a row, which somebody writes to. */
async function heldTable(t: TestContext) {
  const { url } = await cloneDatabase(t)
  await query(
    url,
    'insert into auth.users (id) values (gen_random_uuid())',
    'drop index auth.postern_users_email_idx',
  )
  const holder = await connectedHolder(url)
  await holder.query('begin; update auth.users set updated_at = now()')
  return { url, holder }
}

/** Whoever keeps the migration waiting; its database may go before it does. */
async function connectedHolder(url: string): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: url, application_name: 'report' })
  holder.on('error', () => {})
  await holder.connect()
  return holder
}

/** What a migration says that the holder keeps waiting, until it is told of and the holder leaves. */
async function linesOfHeldRun(url: string, holder: pg.Client): Promise<string[]> {
  const lines: string[] = []
  const waits = Promise.withResolvers<void>()
  const info = (line: string) => {
    lines.push(line)
    if (line.includes('waits to run')) waits.resolve()
  }
  const log = { debug() {}, info, warn() {} }
  const migrating = runMigrations({ connectionString: url, schema: 'auth', log })
  await waits.promise
  await holder.end()
  await migrating
  return lines
}

function stateOf(t: TestContext, url: string) {
  return migrationState(connected(t, url), 'auth')
}

/** As migrations are: on the schema of the tables. */
function connected(t: TestContext, url: string): Kysely<unknown> {
  const pool = openPool({ connectionString: url, options: '-c search_path=auth' })
  t.after(() => pool.end())
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
}
