/** Answers without a message are no quicker than those with one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createPace } from '../../../../plugins/accounts/otp/pace.ts'

suite('the pace of messages', () => {
  test('is kept to the fraction of a millisecond', async (t) => {
    const pace = createPace()
    for (const ms of [1.9, 2.9, 3.9, 4.9, 5.9]) {
      const times = [0, ms]
      const clock = t.mock.method(performance, 'now', () => times.shift() ?? ms)
      await pace.measure(async () => {})
      clock.mock.restore()
      const start = performance.now()
      await pace.wait()
      assert.ok(performance.now() - start >= ms)
    }
  })
})
