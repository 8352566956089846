/** Databases of earlier releases, migrated: the schema equals a new one, rows are kept, and users stay signed in. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { before, suite, type TestContext, test } from 'node:test'

import { SchemaTooNewError, SchemaTooOldError } from '../../db/migrate/index.ts'
import { releasedMigrations } from '../../db/migrations/former-migrations.ts'
import { migrations } from '../../db/migrations/index.ts'
import { cloneDatabase, type TestDatabase, withoutDrop } from '../support/database.ts'
import { stepUp, totpCode } from '../support/factors/factors.ts'
import { type FormerUsers, formerDatabase } from '../support/former-database.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { getUser, refresh, verify } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { signedIn } from '../support/users.ts'
import { columns, migrated, query } from './sql.ts'

const releases = globSync(join(import.meta.dirname, 'fixtures/schemas/*.sql'))
  .map((file) => basename(file, '.sql'))
  .sort()
const later = 'auth.postern_later_migrations'

test('the upgrade tests include a database of an earlier release', () =>
  assert.ok(releases.length > 0))

for (const release of releases) {
  suite(`migration from release ${release}`, () => {
    const ending = endingOfSuite()
    let database: TestDatabase
    let users: FormerUsers
    let rows: Map<string, Rows>
    before(async () => {
      const former = await formerDatabase(ending, release)
      database = former.database
      users = former.users
      rows = await readRows(database.url)
      await migrated(database.url)
    })

    test('creates the schema of a new database', async (t) => {
      await assertSchemaOfNew(t, database.url)
    })

    test('keeps every row', async () => {
      const now = await readRows(database.url)
      for (const [table, former] of rows) {
        const names = Object.keys(former[0] ?? {})
        const kept = (now.get(table) ?? []).map((row) =>
          Object.fromEntries(names.map((name) => [name, row[name]])),
        )
        assert.deepEqual(kept, former, table)
      }
      assert.ok([...rows.values()].flat().length > 0)
    })

    test('keeps passwords, sessions, factors and links valid', async (t) => {
      await query(
        database.url,
        // The link was sent when the release was made.
        `update auth.postern_one_time_tokens set expires_at = now() + interval '1 hour'`,
      )
      const { app } = await build(t, { database: withoutDrop(database) })
      const { plain, guarded: userWithTotp } = users

      for (const { email, refresh_token } of [plain, userWithTotp]) {
        const refreshed = await refresh(app, refresh_token)
        assert.equal(refreshed.statusCode, 200, refreshed.body)
        assert.equal((await getUser(app, refreshed.json())).json().email, email)
        await signedIn(app, email)
      }
      const session = await signedIn(app, userWithTotp.email)
      const code = (away = 0) => totpCode(userWithTotp.secret, away)
      await stepUp(app, session, { id: userWithTotp.factor, secret: userWithTotp.secret, code })
      const opened = await verify(app, { type: 'recovery', token_hash: plain.link })
      assert.equal(opened.statusCode, 200, opened.body)
    })
  })
}

suite('a database of commit 397d0154', () => {
  test('is migrated once by replicas that start at the same time', async (t) => {
    const { database } = await formerDatabase(t)

    await Promise.all(Array.from({ length: 4 }, () => migrated(database.url)))

    assert.deepEqual(
      await recordedNames(database.url),
      [...releasedMigrations, ...Object.keys(migrations)].sort(),
    )
    await assertSchemaOfNew(t, database.url)
  })

  test('keeps what replicas of that commit need to serve it: their names, and a floor that they know', async (t) => {
    const { database } = await formerDatabase(t)

    await migrated(database.url)

    const names = await recordedNames(database.url)
    assert.deepEqual(
      releasedMigrations.filter((name) => !names.includes(name)),
      [],
    )
    const [floor] = await query(database.url, 'select migration from auth.postern_schema_floor')
    assert.ok(releasedMigrations.includes(String(floor?.migration)))
  })

  test('is rejected when it lacks some of its migrations, with the command to run, and is not changed', async (t) => {
    const { url } = (await formerDatabase(t)).database
    await query(url, `delete from ${later} where name >= '0098'`)
    const before = await columns(url)

    await assert.rejects(migrated(url), (error) => {
      assert.ok(error instanceof SchemaTooOldError)
      assert.match(
        error.message,
        /"auth" .*before commit 397d0154.*lacks 2 .*the first is 0098-deactivations\. Check out commit 397d0154, run "npm run migrate"/,
      )
      return true
    })

    assert.deepEqual(await columns(url), before)
  })

  test('is rejected when it has a migration that is unknown, and is not changed', async (t) => {
    const { url } = (await formerDatabase(t)).database
    await query(url, `insert into ${later} values ('0033-of-another-branch', '')`)
    const before = await columns(url)

    await assert.rejects(migrated(url), (error) => {
      assert.ok(error instanceof SchemaTooNewError)
      assert.match(error.message, /0033-of-another-branch.*Start that version, or restore a backup/)
      return true
    })

    assert.deepEqual(await columns(url), before)
  })
})

type Rows = Record<string, unknown>[]

/** Of every table except the lists of migrations, in a stable order. */
async function readRows(url: string): Promise<Map<string, Rows>> {
  const tables = await query(
    url,
    `select relname as name from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
      and relname !~ '^postern_(migration|later_migration|schema_floor)' order by 1`,
  )
  const found = new Map<string, Rows>()
  for (const { name } of tables) {
    const rows = await query(url, `select * from auth.${name}`)
    found.set(
      String(name),
      rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    )
  }
  return found
}

async function recordedNames(url: string): Promise<string[]> {
  const rows = await query(url, 'select name from auth.postern_migrations order by name')
  return rows.map(({ name }) => String(name)).sort()
}

async function assertSchemaOfNew(t: TestContext, url: string): Promise<void> {
  const made = await cloneDatabase(t)
  for (const schema of ['auth', 'auth_jobs']) {
    assert.deepEqual(await columns(url, schema), await columns(made.url, schema))
  }
  assert.deepEqual(await catalogue(url), await catalogue(made.url))
}

/** Also the order of columns, which a dump shows. */
function catalogue(url: string): Promise<Rows> {
  return query(
    url,
    `select tablename || '.' || indexname as name, indexdef as value from pg_indexes where schemaname = 'auth'
      union all select conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'auth'::regnamespace
      union all select proname, prosrc from pg_proc where pronamespace = 'auth'::regnamespace
      union all select 'type ' || typname, string_agg(enumlabel, ',' order by enumsortorder)
        from pg_type join pg_enum on enumtypid = pg_type.oid
        where typnamespace = 'auth'::regnamespace group by typname
      union all select 'table ' || relname, concat_ws(' ', relpersistence, relrowsecurity, reloptions::text,
          (select string_agg(attname, ',' order by attnum) from pg_attribute
            where attrelid = pg_class.oid and attnum > 0 and not attisdropped))
        from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
      order by 1`,
  )
}
