/** Jobs of a killed process are run by another one after minutes, not hours. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type pg from 'pg'

import { createDb } from '../../db/core/database.ts'
import { findJobBacklog } from '../../db/jobs/jobs.ts'
import { createJobQueue } from '../../plugins/background/job-queue/index.ts'
import type { LockTimes } from '../../plugins/background/job-queue/locks.ts'
import type { JobContext } from '../../plugins/background/job-queue/runner-options.ts'
import { cloneDatabase, openPool } from '../support/database.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { lastFirst } from '../support/processes/ending.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { build } from '../support/server.ts'
import { newAddress } from '../support/users.ts'
import { startHookReceiver } from '../support/webhooks/hook-receiver.ts'

const silent = { debug() {}, warn() {}, error() {} }
/** Seconds after which an unrenewed lock is released. */
const expirySeconds = 40

suite('jobs of a dead worker', () => {
  test('send a requested link after the server was killed during the request', async (t) => {
    const { receiver, mail, startKillable, start, pool } = await servers(t)
    const address = newAddress()
    receiver.reply({ act: () => {} })
    const killed = await startKillable()
    await requestLink(killed.url, address)
    await receiver.next(0)
    killed.child.kill('SIGKILL')
    await killed.ended
    receiver.answer({})

    await start()
    await age(pool, expirySeconds + 1)

    await mail.waitFor(address)
  })

  test('do not delay emails of other users while one user is locked', async (t) => {
    const { mail, start, pool } = await servers(t)
    const url = await start()
    const address = newAddress()
    await requestLink(url, address)
    await mail.waitFor(address)
    const attacker = await pool.connect()
    await attacker.query('begin')
    await attacker.query('select from auth.users where email = $1 for update', [address])

    await requestLink(url, address)
    await until(async () => {
      const { rows } = await pool.query(
        `select from ${schema}.jobs where last_error like '%lock timeout%' and locked_at is null`,
      )
      return rows.length > 0
    })
    await attacker.query('rollback')
    attacker.release()

    await until(() => mail.messages.filter(({ to }) => to === address).length === 2)
  })

  test('do not count as failed when a job with the same key replaces them', async (t) => {
    const { pool, start } = await queues(t)
    const blocked = start({ isBlocked: true })
    const addKeyed = () =>
      pool.query(`select ${schema}.add_job('one', job_key => 'one', run_at => now())`)
    await addKeyed()
    await until(() => blocked.begun.length === 1)

    await addKeyed()
    await until(() => blocked.begun.length === 2)

    const [backlog] = await findJobBacklog(createDb(pool, 'auth'), schema)
    assert.equal(backlog?.failed, 0)
  })

  test('are run by another worker with their attempts counted', async (t) => {
    const { pool, start } = await queues(t)
    const dead = start({ isBlocked: true, lockTimes: { renewMs: 3_600_000, expireMs: 3_600_000 } })
    await add(pool, 'one')
    await add(pool, 'two')
    await until(() => dead.begun.length === 2)

    const other = start({ lockTimes: { renewMs: 100, expireMs: 500 } })

    await until(() => other.begun.length === 2)
    assert.deepEqual(other.begun.toSorted(), ['one, attempt 2', 'two, attempt 2'])
  })

  test('are not run twice while the worker renews its locks', async (t) => {
    const { pool, start } = await queues(t)
    const lockTimes = { renewMs: 100, expireMs: 3_600_000 }
    const active = start({ isBlocked: true, lockTimes })
    await add(pool, 'one')
    await until(() => active.begun.length === 1)

    const other = start({ lockTimes })
    // Three and a third hours in which the locks are renewed every fifty minutes.
    for (let round = 0; round < 4; round++) {
      await age(pool, 3_000)
      await until(() => isRenewed(pool))
    }

    assert.deepEqual(other.begun, [])
  })
})

/** Servers that call a hook before they email a link to a new user; `start` starts one in this process. */
async function servers(t: TestContext) {
  const ending = lastFirst(t)
  const database = await cloneDatabase(ending)
  const receiver = await startHookReceiver(ending)
  const mail = await startMailServer(ending)
  const env = { ...mail.env, ...receiver.env('BEFORE_USER_CREATED') }
  const pool = openPool({ connectionString: database.url })
  ending.after(() => pool.end())
  const startKillable = () => startServerProcess(ending, { ...env, DATABASE_URL: database.url })
  const start = async () => {
    const { app } = await build(ending, { database, env })
    return app.listen({ host: '127.0.0.1', port: 0 })
  }
  return { receiver, mail, pool, startKillable, start }
}

async function requestLink(url: string, email: string): Promise<void> {
  const pending = await fetch(`${url}/otp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  assert.equal(pending.status, 200)
}

/** Queues on one database, like several processes. */
async function queues(t: TestContext) {
  const ending = lastFirst(t)
  const { url: connectionString } = await cloneDatabase(ending)
  const pool = openPool({ connectionString })
  ending.after(() => pool.end())

  /** A queue with `isBlocked` starts jobs and does not complete them before the test ends. */
  function start({
    isBlocked = false,
    lockTimes,
  }: {
    isBlocked?: boolean
    lockTimes?: LockTimes
  } = {}) {
    const own = openPool({ connectionString, max: 2 })
    const queue = createJobQueue({
      pool: own,
      schema,
      log: silent,
      pollIntervalMs: 100,
      lockTimes,
    })
    const begun: string[] = []
    const { promise: end, resolve } = Promise.withResolvers<void>()
    const handler =
      (task: string) =>
      async (_payload: unknown, { job }: JobContext) => {
        begun.push(`${task}, attempt ${await countAttempts(pool, job)}`)
        if (isBlocked) await end
      }
    for (const task of ['one', 'two']) queue.addTask(task, handler(task))
    queue.start()
    ending.after(async () => {
      resolve()
      await queue.stop()
      await own.end()
    })
    return { begun }
  }
  return { pool, start }
}

const schema = 'auth_jobs'

const add = (pool: pg.Pool, task: string) => pool.query(`select ${schema}.add_job($1)`, [task])

async function countAttempts(pool: pg.Pool, job: string): Promise<number> {
  const { rows } = await pool.query(`select attempts from ${schema}.jobs where id = $1`, [job])
  return rows[0].attempts
}

async function isRenewed(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select from ${schema}._private_jobs where locked_at > now() - interval '40 minutes'`,
  )
  return rows.length > 0
}

/** As if the locks had not been renewed for so long. */
async function age(pool: pg.Pool, seconds: number): Promise<void> {
  await pool.query(
    `update ${schema}._private_jobs set locked_at = now() - make_interval(secs => $1)
     where locked_at is not null`,
    [seconds],
  )
}
