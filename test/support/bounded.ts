/** For what must not take out of all proportion longer when its input grows. */
import assert from 'node:assert/strict'

/** Milliseconds. No measure of speed, which varies with the machine: what is to be found takes minutes or hours. */
const limit = 30_000

export async function endsInTime(work: () => unknown): Promise<void> {
  const started = performance.now()
  await work()
  const took = performance.now() - started
  assert.ok(took < limit, `${Math.round(took)} ms`)
}
