import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { gatherLines } from '../../../plugins/observability/logger/gather.ts'

/** What reaches the destination, in order. */
function gathering(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const done: string[] = []
  const destination = {
    write: (text: string) => void done.push(text),
    flush: () => void done.push('flush'),
    flushSync: () => void done.push('flushSync'),
  }
  const lines = gatherLines(destination, { minCharacters: 10, maxDelayMs: 100 })
  return { destination, done, lines }
}

suite('buffered log lines', () => {
  test('are written together when the buffer is full', (t) => {
    const { done, lines } = gathering(t)
    for (const line of ['one\n', 'two\n']) lines.write(line)
    assert.deepEqual(done, [])
    lines.write('three\n')
    assert.deepEqual(done, ['one\ntwo\nthree\n'])
    lines.write('four\n')
    assert.equal(done.length, 1)
  })

  test('are written after a delay', (t) => {
    const { done, lines } = gathering(t)
    lines.write('one\n')
    t.mock.timers.tick(99)
    assert.deepEqual(done, [])
    t.mock.timers.tick(1)
    assert.deepEqual(done, ['one\n', 'flush'])
  })

  test('are written before a flush', (t) => {
    const { destination, done, lines } = gathering(t)
    lines.write('one\n')
    destination.flush()
    lines.write('two\n')
    destination.flushSync()
    destination.flushSync()
    assert.deepEqual(done, ['one\n', 'flush', 'two\n', 'flushSync', 'flushSync'])
  })
})
