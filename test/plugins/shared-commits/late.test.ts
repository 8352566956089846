/** Requests whose time is up while their change waits, or is on its way with those of others. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { withTimeLimit } from '../../../plugins/context.ts'
import { RequestOver, TimeLimit } from '../../../plugins/request-duration/time-limit.ts'
import { notes, setSlowly } from '../../support/notes.ts'

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
