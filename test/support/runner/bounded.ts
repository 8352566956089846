/** For code whose time must be linear in its input. */
import assert from 'node:assert/strict'

/** Milliseconds. Not a measure of speed, which varies: the failures to detect take minutes or hours. */
const limit = 30_000

export async function endsInTime(work: () => unknown): Promise<void> {
  const started = performance.now()
  await work()
  const took = performance.now() - started
  assert.ok(took < limit, `${Math.round(took)} ms`)
}
