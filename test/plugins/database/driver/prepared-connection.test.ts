/** A statement is described once per connection and returns the same results afterwards. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import pg from 'pg'

import { prepareConnections } from '../../../../plugins/database/driver/prepared-connection.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import { emptyDatabase, type TestDatabase } from '../../../support/database.ts'
import { sharedDatabase } from '../../../support/processes/shared-database.ts'

const everyType = `select $1::text as text, null::int as nothing, 1.5::float8 as number, true as yes,
  '9007199254740991'::int8 as big, '{"a": [1]}'::jsonb as json, array['b', null] as list,
  '2026-11-22 10:00:00.123456+00'::timestamptz as moment, '\\x00ff'::bytea as bytes, '' as empty`

type Connected = Awaited<ReturnType<typeof connectTo>>

/** A prepared connection and the connection of the pool behind it. */
async function connectTo({ url }: TestDatabase, t: TestContext) {
  const pool = createPool({ connectionString: url, max: 1, log: { warn() {} } })
  const client = await pool.connect()
  const connection = prepareConnections()(client)
  t.after(async () => {
    client.release(true)
    await pool.end()
  })
  const run = (text: string, values: unknown[] = []) => connection.run({ text, values })
  const queryRows = async (text: string, values: unknown[]) => (await run(text, values)).rows
  return { client, connection, run, queryRows }
}

/** Called in a suite: its tests create temporary tables only. */
function connects(): (t: TestContext) => Promise<Connected> {
  const database = sharedDatabase(emptyDatabase)
  return async (t) => connectTo(await database(), t)
}

suite('described statements', () => {
  const connect = connects()

  test('return the same rows as their first execution', async (t) => {
    const { run } = await connect(t)
    const first = await run(everyType, ['ä"\\'])
    const second = await run(everyType, ['ä"\\'])
    assert.deepEqual(second.rows.map(getEntries), first.rows.map(getEntries))
    assert.deepEqual([second.command, second.rowCount], [first.command, first.rowCount])
    assert.deepEqual([second.command, second.rowCount], ['SELECT', 1])
  })

  test('report the number of written rows, also zero', async (t) => {
    const { run } = await connect(t)
    await run('create temporary table notes (id int)')
    const insert = 'insert into notes select generate_series(1, $1::int)'
    for (const count of [2, 3, 0]) {
      const { command, rowCount } = await run(insert, [count])
      assert.deepEqual([command, rowCount], ['INSERT', count])
    }
  })

  test('accept each parameter type', async (t) => {
    const { queryRows } = await connect(t)
    const text =
      'select $1::text as a, $2::timestamptz as b, $3::text[] as c, $4::bytea as d, $5::jsonb as e'
    const values = [null, new Date(0), ['x', 'y"'], Buffer.from([0, 255]), { f: 'g' }]
    const [first] = await queryRows(text, values)
    const [second] = await queryRows(text, values)
    assert.deepEqual(getEntries(second), getEntries(first))
  })

  test('return the Postgres error and keep the connection usable', async (t) => {
    const { queryRows } = await connect(t)
    const divide = 'select 10 / $1::int as part'
    assert.deepEqual(await queryRows(divide, [5]).then(parts), [2])
    await assert.rejects(queryRows(divide, [0]), isDatabaseError('22012'))
    // Rejected before it runs.
    await assert.rejects(queryRows(divide, ['five']), isDatabaseError('22P02'))
    assert.deepEqual(await queryRows(divide, [2]).then(parts), [5])
  })

  test('reject an unreadable row and keep the connection usable', async (t) => {
    const { client, queryRows } = await connect(t)
    client.setTypeParser(pg.types.builtins.INT4, (text: string) => {
      if (text === '7') throw new Error('unreadable')
      return Number(text)
    })
    const upTo = 'select generate_series(1, $1::int) as part'
    assert.deepEqual(await queryRows(upTo, [2]).then(parts), [1, 2])
    await assert.rejects(queryRows(upTo, [9]), /unreadable/)
    assert.deepEqual(await queryRows(upTo, [3]).then(parts), [1, 2, 3])
  })

  test('fail when the connection is lost', async (t) => {
    const { queryRows } = await connect(t)
    const end = 'select pg_terminate_backend(pg_backend_pid()) where $1'
    await queryRows(end, [false])
    await assert.rejects(queryRows(end, [true]))
    await assert.rejects(queryRows(end, [false]))
  })

  test('are described once per connection', async (t) => {
    const { client, queryRows } = await connect(t)
    const described: unknown[] = []
    assert.ok('connection' in client && client.connection instanceof pg.Connection)
    client.connection.on('rowDescription', (message: unknown) => described.push(message))
    for (const value of ['a', 'b', 'c']) await queryRows('select $1::text as part', [value])
    assert.equal(described.length, 1)
  })
})

suite('pipelined statements', () => {
  const connect = connects()
  const insert = 'insert into notes values ($1)'
  const count = 'select count(*)::int as part from notes where id > $1::int'

  /** A connection that has described both statements. */
  async function connectWithNotes(t: TestContext) {
    const connected = await connect(t)
    const { client, connection, run, queryRows } = connected
    await run('create temporary table notes (id int primary key)')
    await run(insert, [1])
    await run(count, [0])
    const trips: unknown[] = []
    const send = client.query
    client.query = new Proxy(send, {
      apply(original, self, args) {
        trips.push(args[0])
        return Reflect.apply(original, self, args)
      },
    })
    const begin = () => connection.begin('begin')
    const command = (text: string) => connection.runPipelined({ text, values: [] })
    const note = (id: number) => connection.runPipelined({ text: insert, values: [id] })
    const counted = async () => (await queryRows(count, [0]).then(parts))[0]
    return { ...connected, trips, begin, command, note, counted }
  }

  test('are sent with the next statement in order', async (t) => {
    const { connection, trips, begin, command, note, counted } = await connectWithNotes(t)
    await begin()
    await note(2)
    await command('savepoint here')
    await note(3)
    assert.equal(trips.length, 0)
    assert.equal(await counted(), 3)
    await command('rollback to savepoint here')
    await note(4)
    assert.equal(await counted(), 3)
    assert.equal(trips.length, 2)
    await connection.commit()
    assert.equal(await counted(), 3)
  })

  test('are sent with commit, which fails with them', async (t) => {
    const { connection, begin, note, counted } = await connectWithNotes(t)
    await begin()
    await note(2)
    assert.equal(await connection.commit(), 'COMMIT')
    assert.equal(await counted(), 2)
    await begin()
    await note(3)
    await note(3)
    await assert.rejects(connection.commit(), isDatabaseError('23505'))
    await connection.rollback()
    assert.equal(await counted(), 2)
  })

  test('fail the statement they are sent with', async (t) => {
    const { connection, begin, note, counted } = await connectWithNotes(t)
    await begin()
    await note(1)
    await assert.rejects(counted(), isDatabaseError('23505'))
    assert.equal(await connection.commit(), 'ROLLBACK')
    assert.equal(await counted(), 1)
  })

  test('are not sent when the transaction is rolled back first', async (t) => {
    const { connection, trips, begin, note, counted } = await connectWithNotes(t)
    await begin()
    await note(2)
    await connection.rollback()
    assert.equal(trips.length, 0)
    assert.equal(await counted(), 1)
  })

  test('are not sent for a transaction without queries', async (t) => {
    const { connection, trips, begin, command } = await connectWithNotes(t)
    await begin()
    await command('savepoint here')
    await connection.flush()
    assert.equal(await connection.commit(), 'COMMIT')
    assert.equal(trips.length, 0)
  })

  test('are sent by flush', async (t) => {
    const { connection, trips, begin, note, counted } = await connectWithNotes(t)
    await begin()
    await note(2)
    await connection.flush()
    assert.equal(trips.length, 1)
    await connection.rollback()
    assert.equal(await counted(), 1)
  })

  test('are sent before an undescribed statement', async (t) => {
    const { connection, run, queryRows, begin, note } = await connectWithNotes(t)
    await begin()
    await note(2)
    const sum = 'select sum(id)::int as part from notes where id > $1::int'
    assert.deepEqual(await queryRows(sum, [0]).then(parts), [3])
    await note(3)
    assert.deepEqual(parts((await run('select sum(id)::int as part from notes')).rows), [6])
    await connection.commit()
  })

  test('are discarded with the connection', async (t) => {
    const { queryRows, begin, note, counted } = await connectWithNotes(t)
    const end = 'select pg_terminate_backend(pg_backend_pid()) where $1'
    await queryRows(end, [false])
    await begin()
    await note(2)
    await assert.rejects(queryRows(end, [true]))
    await assert.rejects(counted())
  })
})

const parts = (rows: unknown[]) => rows.map((row) => new Map(getEntries(row)).get('part'))

/** Including the microseconds of a Date. */
function getEntries(row: unknown): [string, unknown][] {
  assert.ok(typeof row === 'object' && row !== null)
  return Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
}

function isDatabaseError(code: string) {
  return (error: unknown) => error instanceof pg.DatabaseError && error.code === code
}
