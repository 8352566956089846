import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { sql } from 'kysely'
import pg from 'pg'

import { createDb, type Db } from '../../../db/core/database.ts'
import { createJobQueue, QueuePool } from '../../../plugins/background/job-queue/index.ts'
import { cloneDatabase } from '../../support/database.ts'
import { lastFirst } from '../../support/processes/ending.ts'
import { startTcpProxy } from '../../support/processes/tcp-proxy.ts'
import { until } from '../../support/processes/until.ts'
import { endsInTime } from '../../support/runner/bounded.ts'

const silent = { debug() {}, warn() {}, error() {} }

suite('job queue', () => {
  test('runs a committed job immediately by notification', async (t) => {
    const { queue, db, done } = await start(t, { pollIntervalMs: 3600_000 })
    await listening(db)

    await db.transaction().execute((trx) => queue.enqueue(trx, 'note', { text: 'hello' }))

    await done('hello')
  })

  test('does not run a job of a rolled-back transaction', async (t) => {
    const { queue, db, done, notes } = await start(t)

    const failed = db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, 'note', { text: 'never' })
      throw new Error('no')
    })

    await assert.rejects(failed, /no/)
    await queue.enqueue(db, 'note', { text: 'after' })
    await done('after')
    assert.deepEqual(notes, ['after'])
  })

  test('finds a postponed job by polling', async (t) => {
    const { queue, db, done, notes } = await start(t)

    const dueAt = Date.now() + 500
    await queue.enqueue(db, 'note', { text: 'later' }, { delayMs: 500 })

    await done('later')
    assert.ok(Date.now() >= dueAt)
    assert.deepEqual(notes, ['later'])
  })

  test('replaces a queued job with the same key', async (t) => {
    const { queue, db, done, notes } = await start(t)
    await queue.enqueue(db, 'note', { text: 'first' }, { jobKey: 'one', delayMs: 3600_000 })
    await queue.enqueue(db, 'note', { text: 'second' }, { jobKey: 'one' })

    await done('second')
    await until(async () => (await jobsIn(db)).length === 0)
    assert.deepEqual(notes, ['second'])
  })

  test('keeps a failed job for a retry', async (t) => {
    const { queue, db } = await start(t)

    await queue.enqueue(db, 'fail', {})

    const job = await until(async () => {
      const jobs = await jobsIn(db)
      return jobs.find((job) => job.last_error !== null && job.locked_at === null)
    })
    assert.equal(job.last_error, 'as the test requested')
    assert.ok(job.run_at > new Date())
  })

  test('continues after the database was lost', async (t) => {
    const { queue, db, done, proxy } = await start(t)
    await queue.enqueue(db, 'note', { text: 'before' })
    await done('before')

    proxy.cut()
    await until(async () => inVain(queue, proxy))
    proxy.restore()

    await until(() =>
      queue.enqueue(db, 'note', { text: 'after' }).then(
        () => true,
        () => false,
      ),
    )
    await done('after')
  })

  test('continues after the database was lost during a job', async (t) => {
    const { queue, db, done, notes, proxy } = await start(t)
    await queue.enqueue(db, 'slow', { text: 'slow' })
    await queue.enqueue(db, 'fail', {})
    await until(async () => notes.includes('slow begins'))

    proxy.cut()
    await until(async () => notes.includes('slow ends') && inVain(queue, proxy))
    proxy.restore()

    await until(() =>
      queue.enqueue(db, 'note', { text: 'after' }).then(
        () => true,
        () => false,
      ),
    )
    await done('after')
  })

  test('aborts a job at shutdown, not when the database is lost', async (t) => {
    const { queue, db, notes, proxy } = await start(t)
    await queue.enqueue(db, 'until aborted', { text: 'long' })
    await queue.enqueue(db, 'slow', { text: 'slow' })
    await until(async () => notes.includes('long begins') && notes.includes('slow begins'))

    proxy.cut()
    await until(async () => notes.includes('slow ends'))
    // The library gives up and would abort its jobs five seconds later.
    await pause(8_000)
    assert.ok(!notes.includes('long is aborted'))
    proxy.restore()

    await queue.stop()
    assert.ok(notes.includes('long is aborted'))
  })

  test('releases a connection once when it is released twice', async (t) => {
    const ending = lastFirst(t)
    const { url } = await cloneDatabase(ending)
    const pool = new QueuePool({ connectionString: url, max: 2 })
    pool.on('connect', (connected) => connected.on('error', () => {}))
    ending.after(() => pool.end())

    const client = await pool.connect()
    const called = await new Promise<() => void>((resolve) =>
      pool.connect((_error, _client, release) => resolve(release)),
    )
    for (const release of [client.release, called]) {
      release()
      release()
    }

    assert.deepEqual([pool.totalCount, pool.idleCount], [2, 2])
    assert.equal((await pool.query('select 1 as one')).rows[0].one, 1)
  })

  test('starts once the database is available', async (t) => {
    const { queue, db, done, proxy } = await start(t, { cut: true })
    await until(async () => proxy.rejected() > 0)
    proxy.restore()

    await queue.enqueue(db, 'note', { text: 'finally' })

    await done('finally')
  })

  test('waits for the running job at shutdown and starts no other', async (t) => {
    const { queue, pool, db, notes } = await start(t)
    await queue.enqueue(db, 'slow', { text: 'slow' })
    await until(async () => notes.includes('slow begins'))

    await queue.stop()
    await queue.enqueue(db, 'note', { text: 'too late' })

    const taken: string[] = []
    const other = createJobQueue({ pool, schema: 'auth_jobs', log: silent, pollIntervalMs: 100 })
    other.addTask('note', async (payload) => void taken.push(textIn(payload)))
    other.start()
    await until(async () => taken.length > 0)
    await other.stop()
    assert.deepEqual([notes, taken], [['slow begins', 'slow ends'], ['too late']])
  })

  test('does not wait for a lost database at shutdown', async (t) => {
    const { queue, db, done, proxy } = await start(t)
    await queue.enqueue(db, 'note', { text: 'here' })
    await done('here')
    proxy.cut()

    await endsInTime(() => queue.stop())
  })

  test('uses two connections', async (t) => {
    const { queue, db, done, pool } = await start(t)
    assert.equal(pool.options.max, 2)
    for (let n = 0; n < 20; n++) await queue.enqueue(db, 'note', { text: String(n) })

    await done('19')
  })

  test('rejects duplicate tasks and tasks added after the start', async (t) => {
    const { queue } = await start(t)

    assert.throws(() => queue.addTask('late', async () => {}), /before the queue starts/)
    const other = createJobQueue({ pool: new pg.Pool(), schema: 'auth_jobs', log: silent })
    other.addTask('same', async () => {})
    assert.throws(() => other.addTask('same', async () => {}), /exists already/)
  })
})

/** Through a proxy, to cut the database off. */
async function start(t: TestContext, settings: { pollIntervalMs?: number; cut?: boolean } = {}) {
  const database = await cloneDatabase()
  const proxy = await startTcpProxy(database.url)
  if (settings.cut) proxy.cut()
  const connectionString = proxy.url
  const pool = newPool(connectionString, 2)
  const clients = newPool(connectionString, 5)
  const notes: string[] = []
  const queue = createJobQueue({
    pool,
    schema: 'auth_jobs',
    log: silent,
    pollIntervalMs: 100,
    ...settings,
  })
  queue.addTask('note', async (payload) => void notes.push(textIn(payload)))
  queue.addTask('fail', async () => {
    throw new Error('as the test requested')
  })
  queue.addTask('slow', async (payload) => {
    notes.push(`${textIn(payload)} begins`)
    await pause(400)
    notes.push(`${textIn(payload)} ends`)
  })
  queue.addTask('until aborted', async (payload, { signal }) => {
    notes.push(`${textIn(payload)} begins`)
    await once(signal, 'abort')
    notes.push(`${textIn(payload)} is aborted`)
  })
  queue.start()
  t.after(async () => {
    await queue.stop()
    await Promise.all([pool.end(), clients.end()])
    await proxy.stop()
    await database.drop()
  })
  const done = (text: string) => until(async () => notes.includes(text))
  return { queue, pool, proxy, db: createDb(clients, 'auth'), notes, done }
}

type Started = Awaited<ReturnType<typeof start>>

/** The queue has given up or keeps retrying. */
function inVain(queue: Started['queue'], proxy: Started['proxy']): boolean {
  return queue.downMs() > 0 || proxy.rejected() >= 10
}

function newPool(connectionString: string, max: number): pg.Pool {
  const pool = new QueuePool({ connectionString, max, connectionTimeoutMillis: 2_000 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

interface JobRow {
  last_error: string | null
  locked_at: Date | null
  run_at: Date
}

async function jobsIn(db: Db): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`select * from auth_jobs._private_jobs`.execute(db)
  return rows
}

/** The runner has subscribed to notifications. */
function listening(db: Db) {
  const query = sql`select 1 from pg_stat_activity
    where datname = current_database() and query like 'LISTEN%' and state = 'idle'`
  return until(async () => (await query.execute(db)).rows.length > 0)
}

function textIn(payload: unknown): string {
  assert.ok(typeof payload === 'object' && payload !== null && 'text' in payload)
  return String(payload.text)
}
