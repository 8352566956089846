/** Statements for a few rows of a large table read only these. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { listFilteredEntries } from '../../db/audit/audit-log-entries.ts'
import { deleteOldMail } from '../../db/cleanup/emails.ts'
import { type App, build } from '../support/server.ts'

const rows = 20_000
const batch = 1_000
/** Postgres makes this many custom plans before it considers a generic one. */
const firstPlans = 6

suite('index use', () => {
  test('cleanup of old emails reads no whole table', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    await sql`
      insert into auth.postern_mail_messages (id, kind, payload, state, created_at, updated_at)
        select gen_random_uuid(), 'recovery', '', 'sent', now() - i * interval '1 s', now()
        from generate_series(1, ${rows}::int) i`.execute(app.db)
    await app.pool.query('analyze auth.postern_mail_messages')
    const old = new Date(Date.now() - (rows / 2) * 1000)
    const read = await readRows(app, 'postern_mail_messages', 'seq_tup_read', async () => {
      for (let i = 0; i < firstPlans; i++) {
        assert.equal(await deleteOldMail(app.db, 'sent', old, batch), batch)
      }
      assert.equal(await deleteOldMail(app.db, 'dead', old, batch), 0)
    })
    assert.equal(read, 0)
  })

  test('the audit entries of one user are found without reading those of others', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    const [actor, subject, admin] = Array.from({ length: 3 }, () => crypto.randomUUID())
    await sql`
      insert into auth.audit_log_entries (id, payload, created_at, ip_address)
        select gen_random_uuid(), json_build_object('actor_id', case when i % 5000 = 0 then ${actor}
            else gen_random_uuid()::text end, 'action', 'login', 'log_type', 'account',
            'traits', json_build_object('user_id', case when i % 5000 = 1 then ${subject} end),
            'act', json_build_object('sub', case when i % 5000 = 2 then ${admin} end)),
          now() - i * interval '1 s', ''
        from generate_series(1, ${rows}::int) i`.execute(app.db)
    await app.pool.query('analyze auth.audit_log_entries')
    const none = { search: undefined, action: undefined, from: undefined, to: undefined }
    for (const userId of [actor, subject, admin]) {
      const list = async () => {
        const found = await listFilteredEntries(app.db, { ...none, after: undefined, userId }, 50)
        assert.equal(found.length, 4)
      }
      const columns = 'seq_tup_read + coalesce(idx_tup_fetch, 0)'
      const read = await readRows(app, 'audit_log_entries', columns, list)
      assert.ok(read < 50, `${read} rows were read`)
    }
  })
})

/** Rows of the table that Postgres counts in these columns during `run`. */
async function readRows(
  { pool }: App,
  table: string,
  columns: string,
  run: () => Promise<unknown>,
): Promise<number> {
  const now = async () => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ read: string }>(
      `select ${columns} as read from pg_stat_user_tables where relname = $1`,
      [table],
    )
    return Number(rows[0]?.read ?? 0)
  }
  const before = await now()
  await run()
  return (await now()) - before
}
