/** JIT compilation is enabled in Debian’s Postgres and the official image, and missing in the embedded one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { query } from '../db/sql.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { lastFirst } from '../support/processes/ending.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { bin, startPostgresServer } from './postgres.ts'

const skip = bin === undefined && 'not installed: postgresql'

suite('Postgres with JIT', { skip }, () => {
  test('compiles no statement of an idle server, a sign-up or an email', async (t) => {
    const ending = lastFirst(t)
    const postgres = await startPostgresServer(ending)
    await postgres.sql("alter system set shared_preload_libraries = 'pg_stat_statements'")
    await postgres.stop('fast')
    await postgres.start()
    const [jit] = await query(
      postgres.url,
      'create extension pg_stat_statements',
      `select current_setting('jit') as setting, pg_jit_available() as available`,
    )
    assert.deepEqual(jit, { setting: 'on', available: true })
    const mail = await startMailServer(ending)
    const server = await startServerProcess(ending, { DATABASE_URL: postgres.url, ...mail.env })

    await signUp(server.url)
    await mail.waitFor('new-user@example.com')
    await until(async () => (await polls(postgres.url)) >= 4)

    assert.deepEqual(await compiled(postgres.url), [])
  })
})

async function signUp(url: string): Promise<void> {
  const response = await fetch(`${url}/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'new-user@example.com', password: 'correct horse battery' }),
  })
  assert.equal(response.status, 200)
}

/** How often the job queue has looked for work. */
async function polls(url: string): Promise<number> {
  const [row] = await query(
    url,
    `select coalesce(sum(calls), 0)::integer as calls from pg_stat_statements
     where query like '%skip locked%' and query like '%_private_jobs%'`,
  )
  return Number(row?.calls)
}

/** Compiled statements on our tables. */
function compiled(url: string) {
  return query(
    url,
    `select left(query, 200) as query, calls, jit_functions from pg_stat_statements
     where jit_functions > 0 and query like '%auth%'`,
  )
}
