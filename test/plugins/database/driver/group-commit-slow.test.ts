/** Slow and blocked statements do not delay others of a group commit. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

import { notes, setSlowly } from '../../../support/notes.ts'
import { watchPool } from '../../../support/statements.ts'

suite('group commit with slow statements', () => {
  test('a locked row does not block other statements', async (t) => {
    const { other, change, warm, readText, untilWaiting } = await notes(t, { connections: 4 })
    await warm()
    await other.query('begin; select from notes where id = 2 for update')
    const lock = change(2, 'held')
    assert.deepEqual(await Promise.all([change(1, 'free'), change(3, 'free')]), [
      ['free'],
      ['free'],
    ])
    await untilWaiting(1)
    assert.equal(await readText(2), 'warm')
    await other.query('commit')
    assert.deepEqual(await lock, ['held'])
  })

  test('a transaction that waits for a row of the group does not fail', async (t) => {
    const { other, change, warm } = await notes(t, { connections: 4 })
    await warm()
    await other.query(`begin; update notes set text = 'other' where id = 2`)
    const both = [change(1, 'ours'), change(2, 'ours')]
    await pause(10)
    // The first row is changed and the group waits for the second, which waits for this transaction.
    await other.query(`update notes set text = 'other' where id = 1`)
    await other.query('commit')
    assert.deepEqual(await Promise.all(both), [['ours'], ['ours']])
  })

  test('sends a slow statement alone during a backoff that grows each time', async (t) => {
    let now = 0
    const clock = () => now
    const { pool, query, change, warm } = await notes(t, { connections: 4, clock })
    await warm()
    const both = (ms: number) =>
      watchPool(pool, async () => {
        const changes = Promise.all([1, 2].map((id) => query(setSlowly, [id, 0.02])))
        // Both have been sent then.
        await turn()
        now += ms
        await changes
      })
    const isTogether = async (ms: number) => (await both(ms)).length === 1
    await both(30)
    assert.equal(await isTogether(51), true)
    assert.equal(await isTogether(0), false)
    // Other statements are not affected.
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

  test('does not extend a backoff for groups sent before it', async (t) => {
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

  test('a slow statement does not delay the next group', async (t) => {
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
})
