import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'

import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts'
import { columns, migrated, query } from './sql.ts'

const fixture = await readFile(new URL('gotrue-fixture.sql', import.meta.url), 'utf8')
const tables = [...fixture.matchAll(/^create table auth\.(\w+)/gm)].map(([, name]) => String(name))

const catalogues = {
  indexes: `select indexname as name, indexdef as value from pg_indexes where schemaname = 'auth'`,
  constraints: `select conname as name, pg_get_constraintdef(oid) as value from pg_constraint
    where connamespace = 'auth'::regnamespace and contype <> 'n'`,
  functions: `select proname as name, prosrc as value from pg_proc
    where pronamespace = 'auth'::regnamespace`,
  'row level security': `select relname as name, relrowsecurity as value from pg_class
    where relnamespace = 'auth'::regnamespace and relkind = 'r'`,
}

suite('taking over the tables of a GoTrue', () => {
  let database: TestDatabase
  let earlier: Snapshot
  let later: Snapshot
  before(async () => {
    database = await emptyDatabase()
    await query(database.url, fixture)
    earlier = await snapshot(database.url)
    await migrated(database.url)
    later = await snapshot(database.url)
  })
  after(() => database.drop())

  for (const table of tables) {
    test(`leaves the rows of ${table} as they were`, () => {
      const rows = earlier.rows[table] ?? []
      assert.ok(rows.length > 0)
      const kept = later.rows[table]?.map((row, i) => pick(row, Object.keys(rows[i] ?? {})))
      assert.deepEqual(kept, rows)
    })
  }

  test('adds every column and table that a fresh database has', async (t) => {
    const fresh = await columns((await cloneDatabase(t)).url)
    const missing = [...fresh.keys()].filter((name) => !later.columns.has(name))
    assert.deepEqual(missing, [])
  })

  test('changes no column that was there, but for what today’s GoTrue has itself', () => {
    const changed = [...earlier.columns]
      .filter(([name, old]) => later.columns.get(name) !== old)
      .map(([name, old]) => `${name}: ${old.trim()} -> ${later.columns.get(name)?.trim()}`)
    assert.deepEqual(changed, [
      'flow_state.auth_code: text t -> text f',
      'flow_state.code_challenge: text t -> text f',
      'flow_state.code_challenge_method: auth.code_challenge_method t -> auth.code_challenge_method f',
      ...emptyByDefault('text', [
        'flow_state.provider_access_token',
        'flow_state.provider_refresh_token',
        'mfa_factors.friendly_name',
        'mfa_factors.secret',
      ]),
      ...emptyByDefault('character varying(255)', [
        'refresh_tokens.parent',
        'users.confirmation_token',
        'users.email_change',
        'users.email_change_token_new',
        'users.recovery_token',
      ]),
    ])
  })

  for (const name of Object.keys(catalogues)) {
    test(`keeps the ${name} that were there`, () => {
      const found = new Map(later.catalogues[name]?.map((entry) => [entry.name, entry]))
      for (const entry of earlier.catalogues[name] ?? []) {
        assert.deepEqual(found.get(entry.name), entry)
      }
    })
  }

  test('teaches an older enum the values it lacks', async () => {
    const [row] = await query(
      database.url,
      `select enum_range(null::auth.factor_type)::text as all`,
    )
    assert.equal(row?.all, '{totp,webauthn,phone}')
  })
})

test('identities with a text key are refused in one sentence, and nothing changes', async (t) => {
  const { url } = await emptyDatabase(t)
  await query(url, 'create schema auth', 'create table auth.identities (id text not null)')

  await assert.rejects(migrated(url), /before December 2023: start a newer one/)

  assert.deepEqual([...(await columns(url)).keys()], ['identities.id'])
})

type Rows = Record<string, unknown>[]

interface Snapshot {
  rows: Record<string, Rows>
  columns: Map<string, string>
  catalogues: Record<string, Rows>
}

async function snapshot(url: string): Promise<Snapshot> {
  const each = async (statements: [string, string][]) => {
    const rows: Record<string, Rows> = {}
    for (const [name, statement] of statements) rows[name] = await query(url, statement)
    return rows
  }
  return {
    rows: await each(tables.map((name) => [name, `select * from auth.${name} t order by t::text`])),
    columns: await columns(url),
    catalogues: await each(Object.entries(catalogues)),
  }
}

/** Where GoTrue cannot read null, a default was missing. */
function emptyByDefault(type: string, names: string[]): string[] {
  const base = type.replace(/\(.*/, '')
  return names.map((name) => `${name}: ${type} f -> ${type} f ''::${base}`)
}

function pick(row: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}
