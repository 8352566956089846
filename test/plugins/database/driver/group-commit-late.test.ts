/** Requests that time out while their statement waits or runs in a group commit. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  RequestDeadline,
  RequestTimeoutError,
} from '../../../../plugins/observability/request-context/deadline.ts'
import { withDeadline } from '../../../../plugins/observability/request-context/index.ts'
import { notes, setSlowly } from '../../../support/notes.ts'

suite('group commit of timed-out requests', () => {
  test('does not run a statement that is still queued', async (t) => {
    const { query, change, readText, untilWaiting } = await notes(t)
    const limit = new RequestDeadline()
    const slow = query(setSlowly, [1, 0.003])
    await untilWaiting(0)
    const late = withDeadline(limit, () => change(2, 'late'))
    assert.equal(limit.end(), false)
    await assert.rejects(late, isOver(false))
    await slow
    assert.equal(await readText(2), '')
  })

  test('completes a statement already sent and reports that it may have taken effect', async (t) => {
    const { query, readText, untilWaiting } = await notes(t)
    const limit = new RequestDeadline()
    const late = withDeadline(limit, () => query(setSlowly, [1, 0.2]))
    const inTime = query(setSlowly, [2, 0.01])
    await untilWaiting(1)
    assert.equal(limit.end(), true)
    await assert.rejects(late, isOver(true))
    await inTime
    assert.deepEqual([await readText(1), await readText(2)], ['0.2', '0.01'])
    assert.equal(limit.connections.size, 0)
  })

  test('rolls back a group when its longest request times out', async (t) => {
    const { query, change, readText } = await notes(t, { maxDurationMs: 300 })
    const settled = await Promise.allSettled([1, 2].map((id) => query(setSlowly, [id, 30])))
    assert.ok(settled.every(({ status }) => status === 'rejected'))
    assert.deepEqual([await readText(1), await readText(2)], ['', ''])
    assert.deepEqual(await change(1, 'goes on'), ['goes on'])
  })
})

function isOver(mayHaveTakenEffect: boolean) {
  return (error: unknown) =>
    error instanceof RequestTimeoutError && error.mayHaveTakenEffect === mayHaveTakenEffect
}
