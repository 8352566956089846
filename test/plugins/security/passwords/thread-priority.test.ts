import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { suite, test } from 'node:test'

import { lowerPoolPriority } from '../../../../plugins/security/passwords/index.ts'
import { startServerProcess } from '../../../support/processes/server-process.ts'

suite('priority of hashing threads', () => {
  test('is lowered for the pool on Linux, not for the main thread', {
    skip: process.platform !== 'linux' && 'threads have no priority of their own here',
  }, async () => {
    const own = getPriority()
    assert.equal(await lowerPoolPriority(), true)

    assert.deepEqual(readPriorities(process.pid), new Set([10]))
    assert.equal(getPriority(process.pid), own)
  })

  test('is lowered in a server with AUTH_PASSWORD_HASH_CONCURRENCY', {
    skip: process.platform !== 'linux' && 'threads have no priority of their own here',
  }, async (t) => {
    const { child } = await startServerProcess(t, { AUTH_PASSWORD_HASH_CONCURRENCY: '1' })
    assert.deepEqual(readPriorities(child.pid), new Set([10]))
  })

  test('is unchanged on other systems', async (t) => {
    t.mock.property(process, 'platform', 'darwin')
    assert.equal(await lowerPoolPriority(), false)
  })
})

/** Of the threads of the pool of a process. */
function readPriorities(pid = 0): Set<number> {
  const tasks = `/proc/${pid}/task`
  const isPool = (id: string) =>
    readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === 'libuv-worker'
  return new Set(
    readdirSync(tasks)
      .filter(isPool)
      .map((id) => getPriority(Number(id))),
  )
}
