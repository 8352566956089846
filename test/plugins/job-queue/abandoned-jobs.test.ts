/** What a process had in hand when it was killed: another does it, minutes later and not hours. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type pg from 'pg'

import { createDb } from '../../../db/database.ts'
import { findJobBacklog } from '../../../db/job-backlog.ts'
import { createJobQueue } from '../../../plugins/job-queue.ts'
import { cloneDatabase, openPool } from '../../support/database.ts'
import { lastFirst } from '../../support/ending.ts'
import { startHookReceiver } from '../../support/hook-receiver.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { newAddress } from '../../support/people.ts'
import { startServerProcess } from '../../support/server-process.ts'
import { until } from '../../support/until.ts'

const silent = { debug() {}, warn() {}, error() {} }
const leaseSeconds = 120

suite('jobs of a process that died', () => {
  test('a link that was asked for is mailed, although the server was killed while it looked', async (t) => {
    const { receiver, mail, start, pool } = await servers(t)
    const address = newAddress()
    receiver.reply({ act: () => {} })
    const killed = await start()
    await askForLink(killed.url, address)
    await receiver.next(0)
    killed.child.kill('SIGKILL')
    await killed.ended
    receiver.answer({})

    await start()
    await hold(pool, leaseSeconds + 1)
    await freeAbandoned(pool)

    await mail.waitFor(address)
  })

  test('somebody whose row is held by a stranger keeps no worker from the mails of others', async (t) => {
    const { mail, start, pool } = await servers(t)
    const { url } = await start({ AUTH_SMTP_MAX_FREQUENCY: '0' })
    const address = newAddress()
    await askForLink(url, address)
    await mail.waitFor(address)
    const stranger = await pool.connect()
    await stranger.query('begin')
    await stranger.query('select from auth.users where email = $1 for update', [address])

    await askForLink(url, address)
    await until(async () => {
      const { rows } = await pool.query(
        `select from ${schema}.jobs where last_error like '%lock timeout%' and locked_at is null`,
      )
      return rows.length > 0
    })
    await stranger.query('rollback')
    stranger.release()

    await until(() => mail.messages.filter(({ to }) => to === address).length === 2)
  })

  test('a job that another of its key took the place of has not failed', async (t) => {
    const { pool, start } = await queues(t)
    const still = start({ stands: true })
    const addKeyed = () =>
      pool.query(`select ${schema}.add_job('unleased', job_key => 'one', run_at => now())`)
    await addKeyed()
    await until(() => still.begun.length === 1)

    await addKeyed()
    await until(() => still.begun.length === 2)

    const [backlog] = await findJobBacklog(createDb(pool, 'auth'), schema)
    assert.equal(backlog?.failed, 0)
  })

  test('others get all that a process had, once one lease is over, and nothing before', async (t) => {
    const { pool, start } = await queues(t)
    const still = start({ stands: true })
    await add(pool, 'leased')
    await add(pool, 'unleased')
    await until(() => still.begun.length === 2)
    const other = start()

    await hold(pool, leaseSeconds - 30)
    await freeAbandoned(pool)
    await hold(pool, 3_600, 'unleased')
    await freeAbandoned(pool)
    assert.deepEqual(other.begun, [])

    await hold(pool, leaseSeconds + 1)
    await freeAbandoned(pool)
    await until(() => other.begun.length === 2)
    assert.deepEqual(other.begun.toSorted(), ['leased', 'unleased'])
  })
})

/** Servers that ask a hook before they mail a link to somebody new. */
async function servers(t: TestContext) {
  const ending = lastFirst(t)
  const { url: DATABASE_URL } = await cloneDatabase(ending)
  const receiver = await startHookReceiver(ending)
  const mail = await startMailServer(ending)
  const env = { DATABASE_URL, ...mail.env, ...receiver.env('BEFORE_USER_CREATED') }
  const pool = openPool({ connectionString: DATABASE_URL })
  ending.after(() => pool.end())
  const start = (more: Record<string, string> = {}) =>
    startServerProcess(ending, { ...env, ...more })
  return { receiver, mail, pool, start }
}

async function askForLink(url: string, email: string): Promise<void> {
  const asked = await fetch(`${url}/otp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  assert.equal(asked.status, 200)
}

/** Queues of one database, as of several processes. */
async function queues(t: TestContext) {
  const ending = lastFirst(t)
  const { url: connectionString } = await cloneDatabase(ending)
  const pool = openPool({ connectionString })
  ending.after(() => pool.end())

  /** One that `stands` begins jobs and does not end them before the test ends. */
  function start({ stands = false } = {}) {
    const own = openPool({ connectionString, max: 2 })
    const queue = createJobQueue({ pool: own, schema, log: silent, pollIntervalMs: 100 })
    const begun: string[] = []
    const { promise: end, resolve } = Promise.withResolvers<void>()
    const handler = (task: string) => async () => {
      begun.push(task)
      if (stands) await end
    }
    queue.addTask('leased', handler('leased'), { leaseSeconds })
    queue.addTask('unleased', handler('unleased'))
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

/** As if whoever has jobs, of this task perhaps, had had them for so long. */
async function hold(pool: pg.Pool, seconds: number, task?: string): Promise<void> {
  await pool.query(
    `update ${schema}._private_jobs set locked_at = now() - make_interval(secs => $1)
     where locked_at is not null
       and ($2::text is null or task_id = (select id from ${schema}._private_tasks where identifier = $2))`,
    [seconds, task],
  )
}

/** As every minute. Resolves when it is done. */
async function freeAbandoned(pool: pg.Pool): Promise<void> {
  const task = 'free_abandoned_jobs'
  await add(pool, task)
  await until(async () => {
    const { rows } = await pool.query(
      `select from ${schema}.jobs where task_identifier = $1 and run_at <= now()`,
      [task],
    )
    return rows.length === 0
  })
}
