/** Changes of requests that come at once share a transaction, and nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import pg from 'pg'

import { notes, numbers, set } from '../support/notes.ts'
import { watchPool } from '../support/statements.ts'

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
