/** What node:test does with the tracking of test/support/runner/track-tests.ts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const tracking = join(import.meta.dirname, '../support/runner/track-tests.ts')

const nested = `
import { after, suite, test } from 'node:test'
let hasEnded = false
suite('outer', () => {
  suite('inner', () => {
    after(() => { hasEnded = true })
    test('first', async (t) => {
      await null
      await t.test('part', () => {})
    })
  })
  test('second', () => { if (!hasEnded) throw new Error('inner has not ended') })
})
test('third', () => {})`

const late = `
import { test } from 'node:test'
test('passes', async () => {
  REJECT
  await new Promise((resolve) => setTimeout(resolve, 50))
})`

function run(t: TestContext, source: string) {
  const folder = temporaryFolder(t, 'tracked')
  const file = join(folder, 'a.test.mjs')
  writeFileSync(file, source)
  const args = [`--import=${tracking}`, '--test', '--test-reporter=tap', file]
  const env = { PATH: process.env.PATH }
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  return { status, output: stdout }
}

suite('tracked tests', () => {
  test('belong to the suites that contain them, as do their hooks', (t) => {
    const { status, output } = run(t, nested)
    const lines = output.split('\n').filter((line) => /^ *(not )?ok/.test(line))
    assert.deepEqual(
      lines.map((line) => line.replace(/ - /, ' ')),
      [
        '            ok 1 part',
        '        ok 1 first',
        '    ok 1 inner',
        '    ok 2 second',
        'ok 1 outer',
        'ok 2 third',
      ],
    )
    assert.equal(status, 0, output)
  })

  test('fail the run when an error is not awaited', (t) => {
    assert.equal(run(t, late.replace('REJECT', '')).status, 0)
    for (const error of [
      `Promise.reject(new Error('late'))`,
      `setTimeout(() => { throw new Error('late') }, 10)`,
    ]) {
      const { status, output } = run(t, late.replace('REJECT', error))
      assert.equal(status, 1, output)
      assert.match(output, /late/)
    }
  })
})
