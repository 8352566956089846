import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'

import { shareCalls } from '../../../../modules/users/admin/list.ts'

suite('shared calls', () => {
  test('share one result among callers that wait at the same time', async () => {
    const { load, ends, keys } = createLoad()
    const share = shareCalls(load)

    const first = share('a')
    await setImmediate()
    const others = [share('a'), share('a'), share('b')]
    await setImmediate()
    assert.deepEqual(keys, ['a', 'b'])

    ends[0]?.resolve(1)
    ends[1]?.resolve(2)
    await setImmediate()
    assert.deepEqual(keys, ['a', 'b', 'a'])
    ends[2]?.resolve(3)

    assert.equal(await first, 1)
    assert.deepEqual(await Promise.all(others), [3, 3, 2])
  })

  test('do not return a result loaded before the call', async () => {
    let stored = 1
    const share = shareCalls(async () => {
      const seen = stored
      await setImmediate()
      return seen
    })

    const early = share('a')
    await setImmediate()
    stored = 2
    assert.equal(await share('a'), 2)
    assert.equal(await early, 1)
  })

  test('load again for the waiting callers when a call fails', async () => {
    const { load, ends, keys } = createLoad()
    const share = shareCalls(load)

    const first = share('a')
    const second = share('a')
    const settled = Promise.allSettled([first])
    await setImmediate()
    ends[0]?.reject(new Error('the request has ended'))
    await setImmediate()
    ends[1]?.resolve(7)

    assert.equal((await settled)[0].status, 'rejected')
    assert.equal(await second, 7)
    assert.deepEqual(keys, ['a', 'a'])
  })
})

/** A load whose calls end when the test says so. */
function createLoad() {
  const ends: PromiseWithResolvers<number>[] = []
  const keys: string[] = []
  function load(key: string): Promise<number> {
    const end = Promise.withResolvers<number>()
    ends.push(end)
    keys.push(key)
    return end.promise
  }
  return { load, ends, keys }
}
