import assert from 'node:assert/strict'

/**
 * Asserts that what was requested at `since`, in milliseconds, or later expires so many seconds afterwards. It may have
 * been created at any time up to now: a slow machine must not fail a test.
 */
export function assertExpiresAfter(seconds: number, expiresAt: number, since: number): void {
  const [first, last] = [Math.floor(since / 1000) + seconds, Math.ceil(Date.now() / 1000) + seconds]
  assert.ok(expiresAt >= first && expiresAt <= last, `${expiresAt} is not in ${first}–${last}`)
}
