/** Responses without a message are as slow as those with one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createResponsePadding } from '../../../modules/otp/limits/response-padding.ts'

suite('response padding', () => {
  test('measures fractions of a millisecond', async (t) => {
    const pace = createResponsePadding()
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
