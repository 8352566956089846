/** Changes of requests that come at once share a transaction, and nothing else. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

import pg from 'pg'

import { withTimeLimit } from '../../plugins/context.ts'
import { nameStatements } from '../../plugins/db/named-statements.ts'
import { shareCommits } from '../../plugins/db/shared-commits.ts'
import { createPool } from '../../plugins/pool.ts'
import { withTimeLimits } from '../../plugins/request-duration/limited-pool.ts'
import { RequestOver, TimeLimit } from '../../plugins/request-duration/time-limit.ts'
import { cloneDatabase } from '../support/database.ts'
import { watchPool } from '../support/statements.ts'
import { until } from '../support/until.ts'

const set = 'update notes set text = $2 where id = $1 returning text'
/** The first value is the row, the second how many seconds it takes. */
const setSlowly = 'update notes set text = $2 where id = $1 and pg_sleep($2::float8) is not null'
const numbers = [1, 2, 3, 4]

/** Four notes, and a way to change them as requests do. */
async function notes(
  t: TestContext,
  { longestMs = 60_000, connections = 1, clock = (): number => 0 } = {},
) {
  const { url } = await cloneDatabase(t)
  const pool = createPool({ connectionString: url, max: connections, log: { warn() {} } })
  const other = await connect(t, url)
  const observer = await connect(t, url)
  t.after(() => pool.end())
  await other.query(`create table notes (id int primary key, text text);
    insert into notes select id, '' from generate_series(1, 4) as id`)
  const source = withTimeLimits(pool, nameStatements())
  const { query } = await shareCommits(source, { longestMs, clock }).connect()

  async function textOf(id: number): Promise<unknown> {
    const { rows } = await other.query('select text from notes where id = $1', [id])
    return rows[0]?.text
  }

  /** Which notes were written by the same transaction, as lists of numbers. */
  async function together(): Promise<number[][]> {
    const { rows } = await other.query(
      'select array_agg(id order by id) as ids from notes group by xmin::text order by min(id)',
    )
    return rows.map(({ ids }) => ids)
  }

  /** How many statements wait for a lock, or sleep. */
  async function untilWaiting(count: number): Promise<void> {
    await until(
      async () => {
        // Not by the client that holds it: a transaction sees one state of this view until it ends.
        const { rows } = await observer.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type in ('Lock', 'Timeout')`,
        )
        return rows.length >= count
      },
      { everyMs: 5 },
    )
  }

  const change = async (id: number, text: string) => textsOf((await query(set, [id, text])).rows)
  const warm = () => Promise.all(numbers.map((id) => change(id, 'warm')))
  return { pool, other, query, change, warm, textOf, together, untilWaiting }
}

async function connect(t: TestContext, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  t.after(() => client.end())
  await client.connect()
  return client
}

suite('shared commits', () => {
  test('a change that comes alone is one statement, as any other', async (t) => {
    const { pool, change, warm } = await notes(t)
    await warm()
    const trips = await watchPool(pool, async () => {
      assert.deepEqual(await change(1, 'a'), ['a'])
      assert.deepEqual(await change(2, 'b'), ['b'])
    })
    assert.deepEqual(trips, [[set], [set]])
  })

  test('those that come at once are one message and one transaction, and each has its own answer', async (t) => {
    const { pool, change, warm, together } = await notes(t)
    await warm()
    const trips = await watchPool(pool, async () => {
      const answers = await Promise.all(numbers.map((id) => change(id, `text ${id}`)))
      assert.deepEqual(
        answers,
        numbers.map((id) => [`text ${id}`]),
      )
    })
    assert.deepEqual(trips, [
      ['begin', 'set local lock_timeout = 25', set, set, set, set, 'commit'],
    ])
    assert.deepEqual(await together(), [numbers])
  })

  test('so it is on a connection that does not know the statement', async (t) => {
    const { change, together } = await notes(t)
    const answers = await Promise.all(numbers.map((id) => change(id, `text ${id}`)))
    assert.deepEqual(answers.flat(), ['text 1', 'text 2', 'text 3', 'text 4'])
    assert.deepEqual(await together(), [numbers])
  })

  test('what comes while they are on their way is the next transaction', async (t) => {
    const { change, warm, together } = await notes(t)
    await warm()
    const first = [change(1, 'a'), change(2, 'a')]
    await turn()
    const second = [change(3, 'b'), change(4, 'b')]
    await Promise.all([...first, ...second])
    assert.deepEqual(await together(), [
      [1, 2],
      [3, 4],
    ])
  })

  test('not more than sixteen are one transaction', async (t) => {
    const { pool, change, warm } = await notes(t)
    await warm()
    const trips = await watchPool(pool, async () => {
      await Promise.all(Array.from({ length: 40 }, (_, i) => change((i % 4) + 1, String(i))))
    })
    assert.deepEqual(
      trips.map((texts) => texts.filter((text) => text === set).length),
      [16, 16, 8],
    )
  })

  test('changes of one row are made in the order in which they came', async (t) => {
    const { change, warm, textOf } = await notes(t)
    await warm()
    await Promise.all([change(1, 'first'), change(2, 'other'), change(1, 'second')])
    assert.equal(await textOf(1), 'second')
  })

  test('one that fails is undone alone, known to the connection or not', async (t) => {
    const { other, change, textOf } = await notes(t)
    await other.query(`alter table notes add check (text <> 'refused')`)
    for (const text of ['first', 'second']) {
      const settled = await Promise.allSettled([
        change(1, text),
        change(2, 'refused'),
        change(3, text),
      ])
      assert.deepEqual(
        settled.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      const [, refused] = settled
      assert.ok(refused?.status === 'rejected' && refused.reason instanceof pg.DatabaseError)
      assert.equal(refused.reason.code, '23514')
      assert.deepEqual([await textOf(1), await textOf(2), await textOf(3)], [text, '', text])
    }
  })

  test('one whose row cannot be read fails alone, although it is written', async (t) => {
    const { pool, query, warm, textOf } = await notes(t)
    await warm()
    const client = await pool.connect()
    client.setTypeParser(pg.types.builtins.INT4, (text: string) => {
      if (text === '7') throw new Error('unreadable')
      return Number(text)
    })
    client.release()
    const setNumber = 'update notes set text = $2 where id = $1 returning $2::int as number'
    await query(setNumber, [1, 1])
    const settled = await Promise.allSettled([query(setNumber, [1, 7]), query(setNumber, [2, 8])])
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.deepEqual([await textOf(1), await textOf(2)], ['7', '8'])
  })

  test('a row that somebody holds keeps nobody else waiting', async (t) => {
    const { other, change, warm, textOf, untilWaiting } = await notes(t, { connections: 4 })
    await warm()
    await other.query('begin; select from notes where id = 2 for update')
    const held = change(2, 'held')
    assert.deepEqual(await Promise.all([change(1, 'free'), change(3, 'free')]), [
      ['free'],
      ['free'],
    ])
    await untilWaiting(1)
    assert.equal(await textOf(2), 'warm')
    await other.query('commit')
    assert.deepEqual(await held, ['held'])
  })

  test('a transaction that wants a row of theirs is not made to fail', async (t) => {
    const { other, change, warm } = await notes(t, { connections: 4 })
    await warm()
    await other.query(`begin; update notes set text = 'other' where id = 2`)
    const both = [change(1, 'ours'), change(2, 'ours')]
    await pause(10)
    // The first is changed and waits for the second to be, which waits for this transaction.
    await other.query(`update notes set text = 'other' where id = 1`)
    await other.query('commit')
    assert.deepEqual(await Promise.all(both), [['ours'], ['ours']])
  })

  test('a statement that takes long is sent by itself for a while, and for longer each time', async (t) => {
    let now = 0
    const clock = () => now
    const { pool, query, change, warm } = await notes(t, { connections: 4, clock })
    await warm()
    const both = (ms: number) =>
      watchPool(pool, async () => {
        const changes = Promise.all([1, 2].map((id) => query(setSlowly, [id, 0.02])))
        // They are on their way then.
        await turn()
        now += ms
        await changes
      })
    const isTogether = async (ms: number) => (await both(ms)).length === 1
    await both(30)
    assert.equal(await isTogether(51), true)
    assert.equal(await isTogether(0), false)
    // The others are not concerned.
    const [others] = await watchPool(pool, () => Promise.all([change(1, 'a'), change(2, 'a')]))
    assert.equal(others?.[0], 'begin')
    now += 251
    assert.equal(await isTogether(51), true)
    now += 251
    assert.equal(await isTogether(0), false)
    now += 251
    assert.equal(await isTogether(30), true)
    assert.equal(await isTogether(51), true)
    now += 251
    assert.equal(await isTogether(0), true)
  })

  test('what was on its way when a rest began makes it neither longer nor shorter', async (t) => {
    let now = 0
    const clock = () => now
    const { pool, query, warm, untilWaiting } = await notes(t, { connections: 4, clock })
    await warm()
    const both = (ids: number[]) => Promise.all(ids.map((id) => query(setSlowly, [id, 0.2])))
    const isTogether = async () => (await watchPool(pool, () => both([1, 2]))).length === 1
    const first = both([1, 2])
    await untilWaiting(1)
    const second = both([3, 4])
    await untilWaiting(2)
    now += 51
    await Promise.all([first, second])
    assert.equal(await isTogether(), false)
    now += 251
    assert.equal(await isTogether(), true)
  })

  test('a slow one does not hold up the next', async (t) => {
    const { other, query, change, warm, untilWaiting } = await notes(t, { connections: 4 })
    await warm()
    const slow = query(setSlowly, [1, 1.5])
    await untilWaiting(1)
    assert.deepEqual(await change(2, 'quick'), ['quick'])
    const { rows } = await other.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    )
    assert.equal(rows.length, 1)
    await slow
  })

  test('a lost connection is an error of all, and nothing is tried twice', async (t) => {
    const { other, query, change, textOf, untilWaiting } = await notes(t)
    const add = `update notes set text = text || $2 where id = $1 and pg_sleep(0.2) is not null`
    const lost = Promise.allSettled([query(add, [1, 'x']), query(add, [2, 'x'])])
    await untilWaiting(1)
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'postern'`)
    assert.deepEqual(
      (await lost).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual([await textOf(1), await textOf(2)], ['', ''])
    assert.deepEqual(await change(1, 'goes on'), ['goes on'])
  })

  test('no transaction begins there', async (t) => {
    const { query, warm } = await notes(t)
    await warm()
    assert.throws(() => query('begin', []), /no transaction/)
  })
})

suite('shared commits of requests whose time is up', () => {
  test('one that waits for its turn is never made', async (t) => {
    const { query, change, textOf, untilWaiting } = await notes(t)
    const limit = new TimeLimit()
    const slow = query(setSlowly, [1, 0.003])
    await untilWaiting(0)
    const late = withTimeLimit(limit, () => change(2, 'late'))
    assert.equal(limit.end(), false)
    await assert.rejects(late, isOver(false))
    await slow
    assert.equal(await textOf(2), '')
  })

  test('one that is on its way is made, and its request is told that it may have been', async (t) => {
    const { query, textOf, untilWaiting } = await notes(t)
    const limit = new TimeLimit()
    const late = withTimeLimit(limit, () => query(setSlowly, [1, 0.2]))
    const inTime = query(setSlowly, [2, 0.01])
    await untilWaiting(1)
    assert.equal(limit.end(), true)
    await assert.rejects(late, isOver(true))
    await inTime
    assert.deepEqual([await textOf(1), await textOf(2)], ['0.2', '0.01'])
    assert.equal(limit.connections.size, 0)
  })

  test('together they end when the longest request does, and nothing is written', async (t) => {
    const { query, change, textOf } = await notes(t, { longestMs: 300 })
    const settled = await Promise.allSettled([1, 2].map((id) => query(setSlowly, [id, 30])))
    assert.ok(settled.every(({ status }) => status === 'rejected'))
    assert.deepEqual([await textOf(1), await textOf(2)], ['', ''])
    assert.deepEqual(await change(1, 'goes on'), ['goes on'])
  })
})

function isOver(mayHaveTakenEffect: boolean) {
  return (error: unknown) =>
    error instanceof RequestOver && error.mayHaveTakenEffect === mayHaveTakenEffect
}

function textsOf(rows: unknown[]): unknown[] {
  return rows.map((row) => Object(row).text)
}
