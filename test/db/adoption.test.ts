import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'

import pg from 'pg'

import { knownGotrueVersions } from '../../db/migrations/gotrue-level.ts'
import { withClient } from '../../server/with-client.ts'
import { emptyDatabase, type TestDatabase } from '../support/database.ts'
import { gotrueDatabase } from '../support/gotrue/database.ts'
import { columns, migrated, query } from './sql.ts'

const fixture = readFileSync(new URL('gotrue-fixture.sql', import.meta.url), 'utf8')
const tables = [...fixture.matchAll(/^insert into auth\.(\w+)/gm)].map(([, name]) => String(name))

const catalogues = {
  indexes: `select indexname as name, indexdef as value from pg_indexes where schemaname = 'auth'`,
  constraints: `select conname as name, pg_get_constraintdef(oid) as value from pg_constraint
    where connamespace = 'auth'::regnamespace and contype <> 'n'`,
  functions: `select proname as name, prosrc as value from pg_proc
    where pronamespace = 'auth'::regnamespace`,
  'row level security': `select relname as name, relrowsecurity as value from pg_class
    where relnamespace = 'auth'::regnamespace and relkind = 'r'`,
}

/** Functions for policies, which are called without a prefix; a unique index, and tables without security. */
const expected: Record<string, unknown[]> = {
  indexes: ['scim_users_external_id_key'],
  functions: ['has_permission', 'is_member', 'org_id', 'org_role'],
  'row level security': [
    'mfa_recovery_code_sets',
    'mfa_recovery_codes',
    'scim_tokens',
    'scim_users',
  ],
}

suite('migrating GoTrue’s tables', () => {
  let database: TestDatabase
  let earlier: Snapshot
  let later: Snapshot
  before(async () => {
    database = await gotrueDatabase()
    await query(database.url, fixture)
    earlier = await snapshot(database.url)
    await migrated(database.url)
    later = await snapshot(database.url)
  })
  after(() => database.drop())

  for (const table of tables) {
    test(`does not change the rows of ${table}`, () => {
      assert.ok((earlier.rows[table] ?? []).length > 0)
      assert.deepEqual(later.rows[table], earlier.rows[table])
    })
  }

  test('neither adds nor changes columns', () => {
    assert.deepEqual(later.columns, earlier.columns)
  })

  for (const name of Object.keys(catalogues)) {
    test(`changes only Postern’s own entries of the ${name}`, () => {
      const known = expected[name] ?? []
      const others = (entries: Rows = []) =>
        entries.filter(({ name }) => !/^postern_/.test(String(name)) && !known.includes(name))
      assert.deepEqual(others(later.catalogues[name]), others(earlier.catalogues[name]))
    })
  }

  test('marks the database as shared', async () => {
    const rows = await query(database.url, 'select state from auth.postern_takeover')
    assert.deepEqual(rows, [{ state: 'shared' }])
  })

  test('keeps the list of migrations', async () => {
    const rows = await query(
      database.url,
      'select version from auth.schema_migrations order by version',
    )
    assert.deepEqual(
      rows.map(({ version }) => version),
      knownGotrueVersions,
    )
  })
})

test('rejects tables of an older GoTrue with the command to upgrade, and changes nothing', async (t) => {
  const { url } = await gotrueDatabase(t)
  await query(url, `delete from auth.schema_migrations where version > '20250101'`)
  const before = await columns(url)

  await assert.rejects(migrated(url), /end at 20241009103726;.*2\.196.*"auth migrate"/)

  assert.deepEqual(await columns(url), before)
})

test('rejects tables of an unknown version', async (t) => {
  const { url } = await emptyDatabase(t)
  await query(url, 'create schema auth', 'create table auth.identities (id text not null)')

  await assert.rejects(migrated(url), /end at no known point/)

  assert.deepEqual([...(await columns(url)).keys()], ['identities.id'])
})

test('finds a list of migrations in schema public', async (t) => {
  const { url } = await gotrueDatabase(t)
  await query(
    url,
    'create table public.schema_migrations (version varchar(14) primary key)',
    'insert into public.schema_migrations select version from auth.schema_migrations',
    'truncate auth.schema_migrations',
  )

  await migrated(url)

  const [row] = await query(url, 'select state from auth.postern_takeover')
  assert.equal(row?.state, 'shared')
})

test('does not block writers behind a long transaction', async (t) => {
  const { url } = await gotrueDatabase(t)
  await query(url, fixture)
  // A writer blocked by the migration would wait for good: the transaction it waits for ends after the writer.
  const short = new pg.Client({ connectionString: url, statement_timeout: 30_000 })
  const long = new pg.Client(url)
  await Promise.all([long.connect(), short.connect()])
  await long.query('begin')
  await long.query(`update auth.users set updated_at = now() where email = 'ada@example.com'`)

  let isMigrated = false
  const migrating = migrated(url).then(() => {
    isMigrated = true
  })
  for (let i = 0; i < 40; i++) {
    await short.query('update auth.users set updated_at = now() where email is null')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(isMigrated, false)
  await long.query('commit')
  await migrating
  await Promise.all([long.end(), short.end()])
})

type Rows = Record<string, unknown>[]

interface Snapshot {
  rows: Record<string, Rows>
  columns: Map<string, string>
  catalogues: Record<string, Rows>
}

async function snapshot(url: string): Promise<Snapshot> {
  const all = await columns(url)
  const contents = tables.map((name): [string, string] => [name, `select * from auth.${name}`])
  return {
    rows: await readEach(url, contents),
    columns: new Map([...all].filter(([name]) => !name.startsWith('postern_'))),
    catalogues: await readEach(url, Object.entries(catalogues)),
  }
}

/** The rows of each statement by its name, over one connection. */
function readEach(url: string, statements: [string, string][]): Promise<Record<string, Rows>> {
  return withClient({ connectionString: url }, async (client) => {
    const found: Record<string, Rows> = {}
    for (const [name, statement] of statements) {
      found[name] = (await client.query(`${statement} order by 1, 2`)).rows
    }
    return found
  })
}
