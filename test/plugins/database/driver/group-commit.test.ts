/** Statements of concurrent requests share a transaction and nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import pg from 'pg'

import { notes, numbers, set } from '../../../support/notes.ts'
import { watchPool } from '../../../support/statements.ts'

suite('group commit', () => {
  test('sends a single statement without a transaction', async (t) => {
    const { pool, change, warm } = await notes(t)
    await warm()
    const trips = await watchPool(pool, async () => {
      assert.deepEqual(await change(1, 'a'), ['a'])
      assert.deepEqual(await change(2, 'b'), ['b'])
    })
    assert.deepEqual(trips, [[set], [set]])
  })

  test('sends concurrent statements in one message and transaction and returns each result', async (t) => {
    const { pool, change, warm, together } = await notes(t)
    await warm()
    const trips = await watchPool(pool, async () => {
      const responses = await Promise.all(numbers.map((id) => change(id, `text ${id}`)))
      assert.deepEqual(
        responses,
        numbers.map((id) => [`text ${id}`]),
      )
    })
    assert.deepEqual(trips, [
      ['begin', 'set local lock_timeout = 25', set, set, set, set, 'commit'],
    ])
    assert.deepEqual(await together(), [numbers])
  })

  test('commits on a connection that has not prepared the statement', async (t) => {
    const { change, together } = await notes(t)
    const responses = await Promise.all(numbers.map((id) => change(id, `text ${id}`)))
    assert.deepEqual(responses.flat(), ['text 1', 'text 2', 'text 3', 'text 4'])
    assert.deepEqual(await together(), [numbers])
  })

  test('groups statements that arrive during a commit into the next transaction', async (t) => {
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

  test('limits a group to sixteen statements', async (t) => {
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

  test('changes one row in order of arrival', async (t) => {
    const { change, warm, readText } = await notes(t)
    await warm()
    await Promise.all([change(1, 'first'), change(2, 'other'), change(1, 'second')])
    assert.equal(await readText(1), 'second')
  })

  test('rolls back a failing statement alone, prepared or not', async (t) => {
    const { other, change, readText } = await notes(t)
    await other.query(`alter table notes add check (text <> 'rejected')`)
    for (const text of ['first', 'second']) {
      const settled = await Promise.allSettled([
        change(1, text),
        change(2, 'rejected'),
        change(3, text),
      ])
      assert.deepEqual(
        settled.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      const [, rejected] = settled
      assert.ok(rejected?.status === 'rejected' && rejected.reason instanceof pg.DatabaseError)
      assert.equal(rejected.reason.code, '23514')
      assert.deepEqual([await readText(1), await readText(2), await readText(3)], [text, '', text])
    }
  })

  test('rejects a statement with an unreadable row alone, although it is written', async (t) => {
    const { pool, query, warm, readText } = await notes(t)
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
    assert.deepEqual([await readText(1), await readText(2)], ['7', '8'])
  })

  test('rejects all statements on a lost connection and retries none', async (t) => {
    const { other, query, change, readText, untilWaiting } = await notes(t)
    const add = `update notes set text = text || $2 where id = $1 and pg_sleep(30) is not null`
    const lost = Promise.allSettled([query(add, [1, 'x']), query(add, [2, 'x'])])
    await untilWaiting(1)
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'postern'`)
    assert.deepEqual(
      (await lost).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual([await readText(1), await readText(2)], ['', ''])
    assert.deepEqual(await change(1, 'goes on'), ['goes on'])
  })
})
