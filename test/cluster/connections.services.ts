/** How many connections of Postgres a server needs under load, and a pooler that shares them. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { query } from '../db/sql.ts'
import { startPgbouncer } from '../services/programs.ts'
import { startLoad } from '../support/cluster/load.ts'
import { newerPgbouncer } from '../support/cluster/newer-pgbouncer.ts'
import { clusterSettings } from '../support/cluster/settings.ts'
import { cloneDatabase } from '../support/database.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

/** Clients that would use more connections than there are. */
const clients = 20

/** Under load until `isOver`; no request fails. */
async function underLoad(
  t: Ending,
  env: Record<string, string>,
  isOver: (responses: number) => Promise<boolean>,
): Promise<void> {
  const mail = await startMailServer(t)
  const { url } = await startServerProcess(t, { ...mail.env, ...clusterSettings, ...env })
  const load = startLoad({ urls: [url], mail, clients })
  t.after(load.abort)
  await until(() => isOver(load.client.requests))
  await load.stop()
  assert.deepEqual([...load.client.failures, ...load.rejected], [])
}

suite('connections to Postgres', () => {
  test('opens at most 10 connections with a pool of 7, one of them to listen', async (context) => {
    const t = lastFirst(context)
    const { url } = await cloneDatabase(t)
    const counts: number[] = []
    const env = { AUTH_DB_MAX_POOL_SIZE: '7', AUTH_CONSOLE_ENABLED: 'true' }
    await underLoad(t, { ...env, DATABASE_URL: url }, async (responses) => {
      const rows = await query(url, {
        text: `select from pg_stat_activity where datname = current_database()
          and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      })
      counts.push(rows.length)
      return responses >= 300
    })
    // Not the largest: on a busy machine the server opens one for a moment to look for lost connections.
    const [usual = 0] = counts.sort((a, b) => a - b).slice(counts.length / 2)
    assert.ok(usual <= 10, String(counts))
  })
})

suite('PgBouncer with prepared statements', () => {
  test('prepares statements on the connections that it shares', async (context: TestContext) => {
    const newer = newerPgbouncer()
    if (newer.path === undefined) return context.skip(newer.reason)
    const t = lastFirst(context)
    const { url } = await cloneDatabase(t)
    const pooler = await startPgbouncer(t, url, newer.path)
    await underLoad(t, { DATABASE_URL: pooler.url }, async (responses) => {
      const rows = await query(
        pooler.url,
        "select from pg_prepared_statements where name like 'PGBOUNCER_%'",
      )
      return responses >= 300 && rows.length > 0
    })
  })
})
