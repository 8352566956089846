import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { suite, test } from 'node:test'

import { lowerPoolPriority } from '../../plugins/passwords/thread-priority.ts'

suite('the priority of threads that hash', () => {
  test('on Linux the pool stands back, and the thread that answers requests does not', {
    skip: process.platform !== 'linux' && 'threads have no priority of their own here',
  }, async () => {
    const own = getPriority()
    assert.equal(await lowerPoolPriority(), true)

    assert.deepEqual(new Set(poolThreads().map((id) => getPriority(id))), new Set([10]))
    assert.equal(getPriority(process.pid), own)
  })

  test('elsewhere nothing is changed', async (t) => {
    t.mock.property(process, 'platform', 'darwin')
    assert.equal(await lowerPoolPriority(), false)
  })
})

function poolThreads(): number[] {
  const tasks = '/proc/self/task'
  const isPool = (id: string) =>
    readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === 'libuv-worker'
  return readdirSync(tasks).filter(isPool).map(Number)
}
