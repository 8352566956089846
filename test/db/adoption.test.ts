import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { columns, migrated, query } from './sql.ts'

const fixture = await readFile(new URL('gotrue-fixture.sql', import.meta.url), 'utf8')

suite('taking over the tables of a GoTrue', () => {
  test('leaves every row as it was', async (t) => {
    const url = await peerDatabase(t)
    const before = await rows(url)

    await migrated(url)

    assert.ok(Object.values(before).every((table) => table.length > 0))
    const after = await rows(url)
    for (const [table, old] of Object.entries(before)) {
      const kept = after[table]?.map((row, i) => pick(row, Object.keys(old[i] ?? {})))
      assert.deepEqual(kept, old, table)
    }
  })

  test('adds every column and table that a fresh database has', async (t) => {
    const url = await peerDatabase(t)
    await migrated(url)
    const fresh = await columns((await cloneDatabase(t)).url)

    const adopted = await columns(url)

    assert.deepEqual(
      [...fresh.keys()].filter((name) => !adopted.has(name)),
      [],
    )
  })

  test('changes no column that was there, but for a default that was missing', async (t) => {
    const url = await peerDatabase(t)
    const before = await columns(url)

    await migrated(url)

    const after = await columns(url)
    const changed = [...before].filter(([name, definition]) => after.get(name) !== definition)
    assert.deepEqual(changed.map(([name]) => name).sort(), [
      'mfa_factors.friendly_name',
      'mfa_factors.secret',
      'users.confirmation_token',
      'users.email_change',
      'users.email_change_token_new',
      'users.recovery_token',
    ])
    for (const [name, definition] of changed) {
      assert.ok(after.get(name)?.startsWith(`${definition.trimEnd()} ''::`), name)
    }
  })

  const untouched = {
    indexes: `select indexname as name, indexdef as value from pg_indexes where schemaname = 'auth'`,
    constraints: `select conname as name, pg_get_constraintdef(oid) as value from pg_constraint
      where connamespace = 'auth'::regnamespace`,
    functions: `select proname as name, prosrc as value from pg_proc
      where pronamespace = 'auth'::regnamespace`,
    'row level security': `select relname as name, relrowsecurity as value from pg_class
      where relnamespace = 'auth'::regnamespace and relkind = 'r'`,
  }
  for (const [what, catalogue] of Object.entries(untouched)) {
    test(`keeps its ${what}`, async (t) => {
      const url = await peerDatabase(t)
      const before = await query(url, catalogue)

      await migrated(url)

      const after = await query(url, catalogue)
      for (const entry of before) {
        assert.deepEqual(
          after.find((other) => other.name === entry.name),
          entry,
        )
      }
    })
  }

  test('teaches an older enum the values it lacks', async (t) => {
    const url = await peerDatabase(t)

    await migrated(url)

    const [row] = await query(url, `select enum_range(null::auth.factor_type)::text as values`)
    assert.equal(row?.values, '{totp,webauthn,phone}')
  })

  test('refuses identities with a text key, in one sentence, and changes nothing', async (t) => {
    const { url } = await emptyDatabase(t)
    await query(url, 'create schema auth', 'create table auth.identities (id text not null)')

    await assert.rejects(migrated(url), /before December 2023: start a newer one/)

    assert.deepEqual([...(await columns(url)).keys()], ['identities.id'])
  })
})

async function peerDatabase(t: TestContext): Promise<string> {
  const { url } = await emptyDatabase(t)
  await query(url, fixture)
  return url
}

/** All rows of the tables that the fixture fills. */
async function rows(url: string): Promise<Record<string, Record<string, unknown>[]>> {
  const tables = [...fixture.matchAll(/^create table auth\.(\w+)/gm)].map(([, name]) =>
    String(name),
  )
  const entries = tables.map(async (table) => {
    return [table, await query(url, `select * from auth.${table} t order by t::text`)] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

function pick(row: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}
