/** Statements about a few rows of a large table read these, and not the table. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { deleteOldMail } from '../../db/mail-clean-up.ts'
import { type App, build } from '../support/server.ts'

const rows = 20_000
const batch = 1_000
/** Postgres makes so many plans for the values at hand before it thinks of one for all. */
const firstPlans = 6

suite('indexes', () => {
  test('find old mail', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    await sql`
      insert into auth.postern_mail_messages (id, kind, payload, state, created_at, updated_at)
        select gen_random_uuid(), 'recovery', '', 'sent', now() - i * interval '1 s', now()
        from generate_series(1, ${rows}::int) i`.execute(app.db)
    await app.pool.query('analyze auth.postern_mail_messages')
    const old = new Date(Date.now() - (rows / 2) * 1000)
    const read = await readWhole(app, 'postern_mail_messages', async () => {
      for (let i = 0; i < firstPlans; i++) {
        assert.equal(await deleteOldMail(app.db, 'sent', old, batch), batch)
      }
      assert.equal(await deleteOldMail(app.db, 'dead', old, batch), 0)
    })
    assert.equal(read, 0)
  })
})

/** How many rows of the table were read one after another by what `run` asks for. */
async function readWhole({ pool }: App, table: string, run: () => Promise<unknown>) {
  const now = async () => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ read: number }>(
      'select seq_tup_read as read from pg_stat_user_tables where relname = $1',
      [table],
    )
    return rows[0]?.read ?? 0
  }
  const before = await now()
  await run()
  return (await now()) - before
}
