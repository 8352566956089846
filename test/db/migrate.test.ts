import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

import { applyMigration } from '../../db/migrate/apply.ts'
import { buildIndexes } from '../../db/migrate/build-indexes.ts'
import { migrate, migrationState, SchemaTooNewError } from '../../db/migrate/index.ts'
import { openMigrationDb } from '../../db/migrate/migration-db.ts'
import { serveFrom } from '../../db/migrations/ensure.ts'
import { migrations } from '../../db/migrations/index.ts'
import { runMigrations } from '../../server/migrate.ts'
import { cloneDatabase, emptyDatabase, openPool } from '../support/database.ts'
import { beforeStatement } from '../support/statements.ts'
import { columns, migrated, query } from './sql.ts'

const names = Object.keys(migrations)
const quiet = {
  schema: 'auth',
  queueSchema: 'auth_jobs',
  indexesUserNames: true,
  log: { info() {}, warn() {} },
}
const recorded = 'select name, timestamp from auth.postern_migrations order by name'

suite('migrate', () => {
  test('six concurrent migrations of an empty database create one schema', async (t) => {
    const { url } = await emptyDatabase(t)

    await Promise.all(Array.from({ length: 6 }, () => migrated(url)))

    const applied = await query(url, recorded)
    assert.deepEqual(
      applied.map((row) => row.name),
      names,
    )
    assert.deepEqual(await columns(url), await columns((await cloneDatabase(t)).url))
  })

  test('continues after another replica began on the empty database at the same moment', async (t) => {
    const { url } = await emptyDatabase(t)
    const pool = openPool({ connectionString: url, max: 3 })
    t.after(() => pool.end())
    // Asked for after the list of migrations was read, and before the tables are looked at.
    beforeStatement(pool, /server_encoding/, () => applyFirstMigration(t, url))

    await migrate(pool, { ...quiet, migrateQueue: async () => {} })

    const applied = await query(url, recorded)
    assert.deepEqual(
      applied.map((row) => row.name),
      names,
    )
  })

  test('succeeds while a user creates and drops other tables', async (t) => {
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

  test('keeps the fillfactor that the operator has set', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      'alter table auth.users set (fillfactor = 70)',
      `delete from auth.postern_migrations where name = '0200-users'`,
    )

    await migrated(url)

    const [row] = await query(
      url,
      `select reloptions from pg_class where oid = 'auth.users'::regclass`,
    )
    assert.deepEqual(row?.reloptions, ['fillfactor=70'])
  })

  test('a second run changes nothing', async (t) => {
    const { url } = await cloneDatabase(t)
    const before = await query(url, recorded)

    await migrated(url)

    const after = await query(url, recorded)
    assert.deepEqual(after, before)
  })

  test('names the index that exceeds the role’s statement timeout, with a hint', async (t) => {
    const { url } = await cloneDatabase(t)
    const [{ name } = {}] = await query(url, 'select current_database() as name')
    await query(
      url,
      'drop index auth.postern_users_email_idx',
      `insert into auth.users (id) values (gen_random_uuid())`,
      `alter database ${name} set statement_timeout = '300ms'`,
    )
    const locker = openPool({ connectionString: url, statement_timeout: 60_000, max: 1 })
    t.after(() => locker.end())
    const client = await locker.connect()
    await client.query('begin')
    await client.query('update auth.users set updated_at = now()')

    await assert.rejects(migrated(url), {
      message:
        /^postern_users_email_idx .*statement_timeout.*alter role .* set statement_timeout = 0/,
    })
    await client.query('commit')
    client.release()
  })

  test('gathers statistics for an index of an expression that it builds over existing rows', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      'drop index auth.postern_users_name_idx',
      `insert into auth.users (id, raw_user_meta_data)
        select gen_random_uuid(), jsonb_build_object('full_name', 'Ada ' || i)
        from generate_series(1, 1000) i`,
      'analyze auth.users',
    )

    await migrated(url)

    const known = `select 1 from pg_stats
      where schemaname = 'auth' and tablename = 'postern_users_name_idx'`
    assert.equal((await query(url, known)).length, 1)
  })

  test('serves a schema of the next release with a warning and does not change it', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      `insert into auth.postern_migrations values ('9999-later', now()::text)`,
      'drop index auth.postern_users_email_idx',
    )

    const warnings = await migrated(url)

    assert.match(
      warnings.join(),
      /"auth" was migrated by a newer version.*9999-later.*keeps serving/,
    )
    const index = "select 1 from pg_class where relname = 'postern_users_email_idx'"
    assert.deepEqual(await query(url, index), [])
  })

  test('rejects a schema of a newer version and does not change it', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, `update auth.postern_schema_floor set migration = '9999-later'`)
    await query(url, `insert into auth.postern_migrations values ('9999-later', now()::text)`)

    await assert.rejects(migrated(url), (error) => {
      assert.ok(error instanceof SchemaTooNewError)
      assert.match(error.message, /"auth" was migrated by a newer version.*9999-later/)
      return true
    })
  })

  test('requires a migration of every program by serveFrom, which never lowers the floor', async (t) => {
    const { url } = await cloneDatabase(t)
    const floor = 'select migration from auth.postern_schema_floor'

    await serveFrom(connected(t, url), '0299-dropped')
    await serveFrom(connected(t, url), '0298-dropped')

    assert.deepEqual(await query(url, floor), [{ migration: '0299-dropped' }])
  })

  test('names a waiting statement and its blockers, and continues after them', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(
      url,
      `delete from auth.postern_migrations where name = '0209-limits'`,
      'alter table auth.postern_send_quotas drop column quota',
    )
    const locker = await connectedLocker(url)
    await locker.query('begin; select * from auth.postern_send_quotas')

    const lines = await linesOfHeldRun(url, locker)

    const [waiting, ...rest] = lines
    assert.match(
      waiting ?? '',
      /^0209-limits waits to run "alter table "postern_send_quotas" add column .*": process \d+ of \w+ \(report\), idle in transaction for \d+ s\.$/,
    )
    assert.match(rest.at(-1) ?? '', /^Migrated auth: 0209-limits/)
  })

  test('names a waiting index build and its blockers, and continues after them', async (t) => {
    const { url, locker } = await lockedTable(t)

    const lines = await linesOfHeldRun(url, locker)

    assert.match(
      lines[0] ?? '',
      /^postern_users_email_idx waits to run "create index concurrently "postern_users_email_idx" .*": process \d+ of \w+ \(report\), idle in transaction for \d+ s\.$/,
    )
    assert.equal(lines.at(-1), 'Built the index postern_users_email_idx (1 of 1)')
  })

  test('gives up on an index that waits too long and rebuilds it in the next run', async (t) => {
    const { url, locker } = await lockedTable(t)
    const pool = openPool({ connectionString: url })
    t.after(() => pool.end())
    const waiting = {
      ...openMigrationDb(pool),
      schema: 'auth',
      indexesUserNames: true,
      log: { info() {} },
      maxWaitMs: 0,
    }

    await assert.rejects(
      buildIndexes(waiting),
      /^Error: postern_users_email_idx waits to run "create .*": process \d+ of \w+ \(report\), .* s\. It was given up; start again\.$/,
    )
    const left = `select indisvalid as valid from pg_index where indexrelid = 'auth.postern_users_email_idx'::regclass`
    assert.deepEqual(await query(url, left), [{ valid: false }])

    await locker.end()
    assert.deepEqual(await migrated(url), [])
    assert.deepEqual(await query(url, left), [{ valid: true }])
  })

  test('resumes after a failed run', async (t) => {
    const { url } = await emptyDatabase(t)
    // Conflicts with the schema of the job queue, which is created last.
    await query(url, 'create schema auth_jobs', 'create table auth_jobs.migrations (id text)')

    await assert.rejects(migrated(url))

    await query(url, 'drop schema auth_jobs cascade')
    await migrated(url)
    assert.deepEqual(await columns(url), await columns((await cloneDatabase(t)).url))
  })

  test('fails with the reason when Postgres closes the connection with the lock', async (t) => {
    const { url, locker } = await lockedTable(t)
    const waits = Promise.withResolvers<void>()
    const info = (line: string) => line.includes('waits to run') && waits.resolve()
    const log = { debug() {}, info, warn() {} }
    // Before the connection ends: a rejection that is not awaited yet would fail the run.
    const rejected = assert.rejects(
      runMigrations({ connectionString: url, schema: 'auth', log }),
      /Connection terminated|not queryable|terminating connection/,
    )
    await waits.promise

    await locker.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database =
        (select oid from pg_database where datname = current_database())`,
    )
    await locker.end()

    await rejected
  })
})

suite('migrationState', () => {
  test('lists all migrations as pending for an empty database', async (t) => {
    const { url } = await emptyDatabase(t)
    assert.deepEqual(await readState(t, url), {
      applied: [],
      pending: names,
      unknown: [],
      missing: [],
    })
  })

  test('lists no pending migration for a migrated database', async (t) => {
    const { url } = await cloneDatabase(t)
    assert.deepEqual(await readState(t, url), {
      applied: names,
      pending: [],
      unknown: [],
      missing: [],
    })
  })
})

/** As a replica that is about to apply the others. */
async function applyFirstMigration(t: TestContext, url: string): Promise<void> {
  const pool = openPool({ connectionString: url })
  t.after(() => pool.end())
  const { db, lastFailed } = openMigrationDb(pool)
  await db.transaction().execute((trx) => applyMigration(trx, { schema: 'auth', lastFailed }))
}

/** A database without an index on a table with a row, written by another transaction. */
async function lockedTable(t: TestContext) {
  const { url } = await cloneDatabase(t)
  await query(
    url,
    'insert into auth.users (id) values (gen_random_uuid())',
    'drop index auth.postern_users_email_idx',
  )
  const locker = await connectedLocker(url)
  await locker.query('begin; update auth.users set updated_at = now()')
  return { url, locker }
}

/** Blocks the migration; its database may be dropped first. */
async function connectedLocker(url: string): Promise<pg.Client> {
  const locker = new pg.Client({ connectionString: url, application_name: 'report' })
  locker.on('error', () => {})
  await locker.connect()
  return locker
}

/** Lines of a migration that the holder blocks until they are logged. */
async function linesOfHeldRun(url: string, locker: pg.Client): Promise<string[]> {
  const lines: string[] = []
  const waits = Promise.withResolvers<void>()
  const info = (line: string) => {
    lines.push(line)
    if (line.includes('waits to run')) waits.resolve()
  }
  const log = { debug() {}, info, warn() {} }
  const migrating = runMigrations({ connectionString: url, schema: 'auth', log })
  await waits.promise
  await locker.end()
  await migrating
  return lines
}

function readState(t: TestContext, url: string) {
  return migrationState(connected(t, url), 'auth')
}

/** As migrations are: on the schema of the tables. */
function connected(t: TestContext, url: string): Kysely<unknown> {
  const pool = openPool({ connectionString: url, options: '-c search_path=auth' })
  t.after(() => pool.end())
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
}
