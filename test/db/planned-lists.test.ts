/** Lists of many users are planned once a connection, not once a request. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { asAdmin } from '../support/admin.ts'
import { until } from '../support/processes/until.ts'
import { type App, build } from '../support/server.ts'

/** Postgres makes this many custom plans before it considers a generic one. */
const firstPlans = 5
const lists = [
  '/admin/users',
  '/admin/users?page=1&per_page=50&sort=created_at asc',
  '/admin/users?limit=50',
]

suite('lists of users', () => {
  test('are planned once', async (t) => {
    // With one connection, each request uses the statements prepared before.
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    await insertUsers(app, 5_000)
    await app.pool.query('analyze auth.users')
    for (const list of lists) {
      const before = await countPlans(app)
      for (let i = 0; i <= firstPlans; i++) {
        const { statusCode, body } = await asAdmin(app, 'GET', list)
        assert.equal(statusCode, 200, body)
      }
      const after = await countPlans(app)
      assert.ok(after.general > before.general, list)
      assert.equal(after.mostOfOne, firstPlans, list)
    }
  })

  test('are read by their index before the table is analyzed', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    await app.pool.query('alter table auth.users set (autovacuum_enabled = false)')
    await insertUsers(app, 800)
    const list = await asAdmin(app, 'GET', '/admin/users?page=2&per_page=50')
    assert.equal(list.statusCode, 200, list.body)
    // Statistics of a connection are stored after a second or later.
    const scans = await until(async () => {
      const found = await countScans(app)
      return found.listed + found.ofInstance > 0 && found
    })
    assert.equal(scans.ofInstance, 0)
  })
})

async function countScans(app: App): Promise<{ listed: number; ofInstance: number }> {
  const { rows } = await app.pool.query<{ name: string; scans: number }>(
    `select indexrelname as name, idx_scan::int as scans from pg_stat_user_indexes
      where schemaname = 'auth' and relname = 'users'`,
  )
  const scans = new Map(rows.map(({ name, scans }) => [name, scans]))
  return {
    listed: scans.get('postern_users_listed_idx') ?? 0,
    ofInstance: scans.get('users_instance_id_idx') ?? 0,
  }
}

async function insertUsers(app: App, count: number): Promise<void> {
  await sql`
    insert into auth.users (instance_id, id, aud, role, email, created_at, updated_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
        'authenticated', format('member-%s@example.com', i), now() + i * interval '1 s', now()
      from generate_series(1, ${count}::int) i`.execute(app.db)
}

interface Plans {
  /** How often a statement that lists users ran by a plan for all values. */
  general: number
  /** How often one of these statements was planned for its values, at most. */
  mostOfOne: number
}

async function countPlans(app: App): Promise<Plans> {
  const { rows } = await app.pool.query<Plans>(
    `select coalesce(sum(generic_plans), 0)::int as general,
        coalesce(max(custom_plans), 0)::int as "mostOfOne" from pg_prepared_statements
      where statement like '%created_at" desc%limit%' or statement like '%created_at" asc%limit%'`,
  )
  return rows[0] ?? { general: 0, mostOfOne: 0 }
}
