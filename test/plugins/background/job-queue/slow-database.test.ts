/** Under database load jobs are delayed, never lost and never run twice. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type pg from 'pg'

import { createJobQueue, createQueuePool } from '../../../../plugins/background/job-queue/index.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import { cloneDatabase, openPool } from '../../../support/database.ts'
import { lastFirst } from '../../../support/processes/ending.ts'
import { startTcpProxy } from '../../../support/processes/tcp-proxy.ts'
import { until } from '../../../support/processes/until.ts'

suite('job queue with a slow database', () => {
  test('stores the completion of a job when connecting takes 6 s', async (t) => {
    const { queue, pool, proxy, begun, warnings } = await start(t, { jobMs: 300 })
    await add(pool, 'one')
    await until(() => begun.length === 1)

    proxy.cut()
    proxy.delay(6_000)
    proxy.restore()

    await untilEmpty(pool)
    await add(pool, 'one')
    await untilEmpty(pool)
    assert.equal(begun.length, 2)
    assert.equal(queue.downMs(), 0)
    assert.deepEqual(
      warnings.filter((text) => text.includes('stopped')),
      [],
    )
  })

  test('does not run a job again when the connection was lost at its completion', async (t) => {
    const { pool, proxy, begun } = await start(t, { jobMs: 300, retryMs: 0 })
    await pool.query(`create function slow_delete() returns trigger language plpgsql as
      $$ begin perform pg_sleep(2); return old; end $$;
      create trigger slow_delete before delete on auth_jobs._private_jobs
        for each row execute function slow_delete()`)
    await add(pool, 'one')
    await until(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database()
           and state = 'active' and query like 'delete%_private_jobs%'`,
      )
      return rows.length > 0
    })
    await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'delete%_private_jobs%'`)
    await pool.query('drop trigger slow_delete on auth_jobs._private_jobs')
    proxy.restore()

    await untilEmpty(pool)
    assert.equal(begun.length, 1)
  })
})

interface Settings {
  /** Duration of a job. */
  jobMs: number
  /** For how long a connection is tried for again. */
  retryMs?: number
}

/** A queue with the connections of the server, behind a proxy; and connections of the test that go to Postgres itself. */
async function start(t: TestContext, { jobMs, retryMs }: Settings) {
  const ending = lastFirst(t)
  const { url } = await cloneDatabase(ending)
  const proxy = await startTcpProxy(url)
  ending.after(() => proxy.stop())
  const pool = openPool({ connectionString: url })
  ending.after(() => pool.end())
  const warnings: string[] = []
  const log = {
    debug() {},
    error() {},
    warn: (_fields: unknown, text?: string) => void warnings.push(String(text)),
  }
  const { options } = createPool({ connectionString: proxy.url, max: 2, log })
  const own = createQueuePool({ ...options, ...(retryMs !== undefined && { retryMs }) }, log)
  const queue = createJobQueue({ pool: own, schema: 'auth_jobs', log, pollIntervalMs: 100 })
  const begun: string[] = []
  queue.addTask('one', async (_payload, { job }) => {
    begun.push(job)
    await pause(jobMs)
  })
  queue.start()
  ending.after(async () => {
    await queue.stop()
    await own.end()
  })
  await until(() => queue.downMs() === 0)
  return { queue, pool, proxy, begun, warnings }
}

const add = (pool: pg.Pool, task: string) => pool.query('select auth_jobs.add_job($1)', [task])

function untilEmpty(pool: pg.Pool): Promise<boolean> {
  return until(async () => {
    const { rows } = await pool.query(`select from auth_jobs.jobs where task_identifier = 'one'`)
    return rows.length === 0
  })
}
