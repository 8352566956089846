/** Responses without a message are as slow as those with one. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createResponsePadding, type ResponsePadding } from '../../../modules/otp/limits/timing.ts'

/** Measures a delivery of this duration. */
async function deliver(t: TestContext, pace: ResponsePadding, ms: number): Promise<void> {
  const times = [0, ms]
  const clock = t.mock.method(performance, 'now', () => times.shift() ?? ms)
  await pace.measure(async () => {})
  clock.mock.restore()
}

async function waited(pace: ResponsePadding): Promise<number> {
  const start = performance.now()
  await pace.wait()
  return performance.now() - start
}

const last = (below: number) => below - 1
const hour = 3_600_000

suite('response padding', () => {
  test('measures fractions of a millisecond', async (t) => {
    const pace = createResponsePadding(last)
    for (const ms of [1.9, 2.9, 3.9, 4.9, 5.9]) {
      await deliver(t, pace, ms)
      assert.ok((await waited(pace)) >= ms * 1.1)
    }
  })

  test('takes the duration of a random delivery among the last 50', async (t) => {
    const bounds: number[] = []
    const first = (below: number) => {
      bounds.push(below)
      return 0
    }
    const pace = createResponsePadding(first)
    await deliver(t, pace, hour)
    await deliver(t, pace, 2)
    for (let i = 1; i < 50; i++) await deliver(t, pace, hour)
    assert.ok((await waited(pace)) >= 1.8)
    assert.deepEqual(bounds, [50, 201])
  })
})
