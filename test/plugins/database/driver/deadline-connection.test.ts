/** Statements of a request end at its deadline; a commit does not. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import pg from 'pg'

import {
  connectWithDeadline,
  NotConnected,
} from '../../../../plugins/database/driver/deadline-connection.ts'
import { prepareConnections } from '../../../../plugins/database/driver/prepared-connection.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import {
  RequestDeadline,
  RequestTimeoutError,
} from '../../../../plugins/observability/request-context/deadline.ts'
import { withDeadline } from '../../../../plugins/observability/request-context/index.ts'
import { emptyDatabase } from '../../../support/database.ts'
import { untilRows } from '../../../support/processes/until.ts'

const statement = (text: string, ...values: unknown[]) => ({ text, values })
const insert = statement('insert into notes values (1)')
const sleep = statement('select pg_sleep(60)')

async function connect(t: TestContext) {
  const { url } = await emptyDatabase(t)
  const pool = createPool({ connectionString: url, max: 1, log: { warn() {} } })
  const observer = new pg.Client({ connectionString: url })
  observer.on('error', () => {})
  await observer.connect()
  let isReleased = false
  const release = () => {
    if (!isReleased) connection.release()
    isReleased = true
  }
  await observer.query('create table notes (id int)')
  const deadline = new RequestDeadline()
  const open = connectWithDeadline(pool, prepareConnections())
  const connection = await withDeadline(deadline, open)
  t.after(async () => {
    release()
    await Promise.all([pool.end(), observer.end()])
  })
  const untilSleeping = () =>
    untilRows(async () => {
      const { rows } = await observer.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      )
      return rows
    })
  const count = async () => (await observer.query('select from notes')).rowCount
  return { pool, open, deadline, connection, release, untilSleeping, count }
}

const isTimeout = (mayHaveTakenEffect: boolean) => (error: unknown) =>
  error instanceof RequestTimeoutError && error.mayHaveTakenEffect === mayHaveTakenEffect

suite('deadline of a connection', () => {
  test('cancels the running statement of a transaction without any effect', async (t) => {
    const { deadline, connection, untilSleeping, count } = await connect(t)
    await connection.begin('begin')
    await connection.run(insert)
    const running = connection.run(sleep)
    await untilSleeping()
    assert.equal(deadline.end(), true)
    await assert.rejects(running, isTimeout(false))
    await connection.rollback()
    assert.equal(await count(), 0)
  })

  test('reports that a single statement may have taken effect', async (t) => {
    const { deadline, connection, untilSleeping } = await connect(t)
    const running = connection.run(sleep)
    await untilSleeping()
    deadline.end()
    await assert.rejects(running, isTimeout(true))
  })

  test('sends no statement except a rollback after the deadline', async (t) => {
    const { deadline, connection, count } = await connect(t)
    await connection.begin('begin')
    await connection.run(insert)
    deadline.end()
    await assert.rejects(connection.run(insert), isTimeout(false))
    await assert.rejects(connection.runPipelined(insert), isTimeout(false))
    await assert.rejects(connection.commit(), isTimeout(false))
    await connection.rollback()
    assert.equal(await count(), 0)
  })

  test('does not cancel a running commit', async (t) => {
    const { deadline, connection, count } = await connect(t)
    await connection.begin('begin')
    await connection.run(insert)
    const committed = connection.commit()
    // The commit is sent once the pipelined statements before it are.
    while (!deadline.over().mayHaveTakenEffect) await Promise.resolve()
    deadline.end()
    assert.equal(await committed, 'COMMIT')
    assert.equal(deadline.hasTakenEffect, true)
    assert.equal(await count(), 1)
  })

  test('provides no connection after the deadline', async (t) => {
    const { pool, open, deadline, release } = await connect(t)
    const waiting = withDeadline(deadline, open)
    deadline.end()
    release()
    await assert.rejects(waiting, isTimeout(false))
    await assert.rejects(withDeadline(deadline, open), isTimeout(false))
    assert.equal(pool.idleCount, 1)
  })

  test('reports a database that cannot be reached', async () => {
    const pool = createPool({
      connectionString: 'postgres://127.0.0.1:1/none',
      max: 1,
      log: { warn() {} },
    })
    const open = connectWithDeadline(pool, prepareConnections())
    await assert.rejects(withDeadline(new RequestDeadline(), open), NotConnected)
    await pool.end()
  })
})
