/** AUTH_DB_INDEX_USER_NAMES: whether the name in the metadata of users is indexed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { runMigrations } from '../../server/migrate.ts'
import { asAdmin } from '../support/admin.ts'
import { cloneDatabase } from '../support/database.ts'
import { build } from '../support/server.ts'
import { query } from './sql.ts'

async function migrate(url: string, indexesUserNames: boolean): Promise<string[]> {
  const lines: string[] = []
  const log = { debug() {}, info: (line: string) => lines.push(line), warn() {} }
  await runMigrations({ connectionString: url, schema: 'auth', indexesUserNames, log })
  return lines
}

const insertAnn = `insert into auth.users (instance_id, id, aud, email, raw_user_meta_data, created_at)
  values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'ann@example.com',
    '{"full_name": "Ann Example"}', now())`

suite('names of users', () => {
  test('are indexed, or not, by a restart with another setting', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, insertAnn)
    const trigrams =
      (await query(url, `select 1 from pg_extension where extname = 'pg_trgm'`)).length > 0
    const [withNames, without] = [
      ['postern_users_name_idx', ...(trigrams ? ['postern_users_trigram_idx'] : [])],
      trigrams ? ['postern_users_addresses_trigram_idx'] : [],
    ]

    assert.deepEqual(
      (await migrate(url, false)).toSorted(),
      [
        ...without.map((name) => `Built the index ${name} (1 of 1)`),
        ...withNames.map((name) => `Dropped the index ${name}`),
      ].toSorted(),
    )
    assert.deepEqual(await migrate(url, false), [])
    const lines = await migrate(url, true)
    assert.equal(
      lines.filter((line) => line.startsWith('Built the index')).length,
      withNames.length,
    )
    assert.equal(
      lines.filter((line) => line.startsWith('Dropped the index')).length,
      without.length,
    )
    assert.deepEqual(await migrate(url, true), [])
  })

  for (const isIndexed of [true, false]) {
    test(`${isIndexed ? 'indexed: a' : 'not indexed: no'} change of metadata needs new index entries`, async (t) => {
      const { url } = await cloneDatabase(t)
      await migrate(url, isIndexed)
      const [row] = await query(
        url,
        insertAnn,
        'begin',
        `update auth.users set raw_user_meta_data = raw_user_meta_data || '{"visits": 1}'`,
        `select pg_stat_get_xact_tuples_hot_updated('auth.users'::regclass)::text as hot`,
      )
      assert.equal(row?.hot, isIndexed ? '0' : '1')
    })

    test(`${isIndexed ? 'indexed: lists search addresses and names' : 'not indexed: lists search addresses only'}`, async (t) => {
      const database = await cloneDatabase()
      await migrate(database.url, isIndexed)
      await query(database.url, insertAnn)
      const { app } = await build(t, {
        database,
        env: { AUTH_DB_INDEX_USER_NAMES: `${isIndexed}` },
      })
      const found = async (search: string) => {
        const response = await asAdmin(app, 'GET', `/admin/users?${search}`)
        return response.json<{ users: unknown[] }>().users.length
      }
      const byName = isIndexed ? 1 : 0
      assert.deepEqual(
        [await found('q=Ann%20Exa'), await found('filter=Ann%20Exa')],
        [byName, byName],
      )
      assert.deepEqual([await found('q=ann@'), await found('filter=ann@')], [1, 1])
    })
  }
})
