/** A statement that a connection knows is described once, and answers as it did the first time. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import pg from 'pg'

import { markUnawaited } from '../../db/unawaited.ts'
import { nameStatements } from '../../plugins/db/named-statements.ts'
import { createPool } from '../../plugins/pool.ts'
import { cloneDatabase } from '../support/database.ts'

const everyType = `select $1::text as text, null::int as nothing, 1.5::float8 as number, true as yes,
  '9007199254740991'::int8 as big, '{"a": [1]}'::jsonb as json, array['b', null] as list,
  '2026-11-22 10:00:00.123456+00'::timestamptz as moment, '\\x00ff'::bytea as bytes, '' as empty`

/** A connection as the server uses it, and the kinds of messages that Postgres sent on it. */
async function connect(t: TestContext) {
  const { url } = await cloneDatabase(t)
  const pool = createPool({ connectionString: url, max: 1, log: { warn() {} } })
  const named = nameStatements()
  const client = await pool.connect()
  t.after(async () => {
    client.release(true)
    await pool.end()
  })
  const { query } = named(client)
  const rowsOf = async (text: string, values: unknown[]) => (await query(text, values)).rows
  return { client, query, rowsOf }
}

suite('known statements', () => {
  test('have the rows they had when they ran first', async (t) => {
    const { query } = await connect(t)
    const first = await query(everyType, ['ä"\\'])
    const second = await query(everyType, ['ä"\\'])
    assert.deepEqual(second.rows.map(entriesOf), first.rows.map(entriesOf))
    assert.deepEqual([second.command, second.rowCount], [first.command, first.rowCount])
    assert.deepEqual([second.command, second.rowCount], ['SELECT', 1])
  })

  test('say how many rows they wrote, also none', async (t) => {
    const { query } = await connect(t)
    await query('create temporary table notes (id int)', [])
    const insert = 'insert into notes select generate_series(1, $1::int)'
    for (const count of [2, 3, 0]) {
      const { command, rowCount } = await query(insert, [count])
      assert.deepEqual([command, rowCount], ['INSERT', count])
    }
  })

  test('take every kind of value', async (t) => {
    const { rowsOf } = await connect(t)
    const text =
      'select $1::text as a, $2::timestamptz as b, $3::text[] as c, $4::bytea as d, $5::jsonb as e'
    const values = [null, new Date(0), ['x', 'y"'], Buffer.from([0, 255]), { f: 'g' }]
    const [first] = await rowsOf(text, values)
    const [second] = await rowsOf(text, values)
    assert.deepEqual(entriesOf(second), entriesOf(first))
  })

  test('an error is the error of Postgres, and the connection goes on', async (t) => {
    const { rowsOf } = await connect(t)
    const divide = 'select 10 / $1::int as part'
    assert.deepEqual(await rowsOf(divide, [5]).then(parts), [2])
    await assert.rejects(rowsOf(divide, [0]), isDatabaseError('22012'))
    // This one is refused before it runs.
    await assert.rejects(rowsOf(divide, ['five']), isDatabaseError('22P02'))
    assert.deepEqual(await rowsOf(divide, [2]).then(parts), [5])
  })

  test('a row that cannot be read is an error, after which the connection goes on', async (t) => {
    const { client, rowsOf } = await connect(t)
    client.setTypeParser(pg.types.builtins.INT4, (text: string) => {
      if (text === '7') throw new Error('unreadable')
      return Number(text)
    })
    const upTo = 'select generate_series(1, $1::int) as part'
    assert.deepEqual(await rowsOf(upTo, [2]).then(parts), [1, 2])
    await assert.rejects(rowsOf(upTo, [9]), /unreadable/)
    assert.deepEqual(await rowsOf(upTo, [3]).then(parts), [1, 2, 3])
  })

  test('a connection that is lost meanwhile is an error', async (t) => {
    const { rowsOf } = await connect(t)
    const end = 'select pg_terminate_backend(pg_backend_pid()) where $1'
    await rowsOf(end, [false])
    await assert.rejects(rowsOf(end, [true]))
    await assert.rejects(rowsOf(end, [false]))
  })

  test('are described once a connection', async (t) => {
    const { client, rowsOf } = await connect(t)
    const described: unknown[] = []
    assert.ok('connection' in client && client.connection instanceof pg.Connection)
    client.connection.on('rowDescription', (message: unknown) => described.push(message))
    for (const value of ['a', 'b', 'c']) await rowsOf('select $1::text as part', [value])
    assert.equal(described.length, 1)
  })
})

suite('what nobody waits for', () => {
  const insert = 'insert into notes values ($1)'
  const count = 'select count(*)::int as part from notes where id > $1::int'

  /** A connection that has run both statements. */
  async function connectWithNotes(t: TestContext) {
    const connected = await connect(t)
    const { client, query } = connected
    await query('create temporary table notes (id int primary key)', [])
    await query(insert, [1])
    await query(count, [0])
    const trips: unknown[] = []
    const send = client.query
    client.query = new Proxy(send, {
      apply(original, self, args) {
        trips.push(args[0])
        return Reflect.apply(original, self, args)
      },
    })
    const run = (command: string) => query(command, [])
    const note = (id: number) => query(insert, unawaitedValues(id))
    const counted = async () => (await connected.rowsOf(count, [0]).then(parts))[0]
    return { ...connected, trips, run, note, counted }
  }

  test('goes out with the next statement, in order', async (t) => {
    const { trips, run, note, counted } = await connectWithNotes(t)
    await run('begin')
    await note(2)
    await run('savepoint here')
    await note(3)
    assert.equal(trips.length, 0)
    assert.equal(await counted(), 3)
    await run('rollback to savepoint here')
    await note(4)
    assert.equal(await counted(), 3)
    assert.equal(trips.length, 2)
    await run('commit')
    assert.equal(await counted(), 3)
  })

  test('goes out with the commit, which fails with it and keeps nothing', async (t) => {
    const { run, note, counted } = await connectWithNotes(t)
    await run('begin')
    await note(2)
    assert.equal((await run('commit')).command, 'COMMIT')
    assert.equal(await counted(), 2)
    await run('begin')
    await note(3)
    await note(3)
    await assert.rejects(run('commit'), isDatabaseError('23505'))
    await run('rollback')
    assert.equal(await counted(), 2)
  })

  test('fails the statement that it goes out with', async (t) => {
    const { run, note, counted } = await connectWithNotes(t)
    await run('begin')
    await note(1)
    await assert.rejects(counted(), isDatabaseError('23505'))
    await run('rollback')
    assert.equal(await counted(), 1)
  })

  test('is not sent where the transaction is given up before', async (t) => {
    const { trips, run, note, counted } = await connectWithNotes(t)
    await run('begin')
    await note(2)
    await run('rollback')
    assert.equal(trips.length, 0)
    assert.equal(await counted(), 1)
    await run('begin')
    assert.equal((await run('commit')).command, 'COMMIT')
    assert.equal(trips.length, 1)
  })

  test('goes out before a statement that the connection does not know', async (t) => {
    const { rowsOf, run, note } = await connectWithNotes(t)
    await run('begin')
    await note(2)
    const sum = 'select sum(id)::int as part from notes where id > $1::int'
    assert.deepEqual(await rowsOf(sum, [0]).then(parts), [3])
    await note(3)
    assert.deepEqual(parts((await run('select sum(id)::int as part from notes')).rows), [6])
    await run('commit')
  })

  test('ends with the connection', async (t) => {
    const { rowsOf, run, note, counted } = await connectWithNotes(t)
    const end = 'select pg_terminate_backend(pg_backend_pid()) where $1'
    await rowsOf(end, [false])
    await run('begin')
    await note(2)
    await assert.rejects(rowsOf(end, [true]))
    await assert.rejects(counted())
  })
})

/** As a prepared statement marks them inside a transaction. */
function unawaitedValues(id: number): unknown[] {
  const values = [id]
  markUnawaited(values)
  return values
}

const parts = (rows: unknown[]) => rows.map((row) => new Map(entriesOf(row)).get('part'))

/** With what a Date knows beyond milliseconds. */
function entriesOf(row: unknown): [string, unknown][] {
  assert.ok(typeof row === 'object' && row !== null)
  return Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
}

function isDatabaseError(code: string) {
  return (error: unknown) => error instanceof pg.DatabaseError && error.code === code
}
