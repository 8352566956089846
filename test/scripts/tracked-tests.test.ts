/** What node:test does with the tracking of test/support/runner/track-tests.ts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'

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

function run(source: string) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-tracked-'))
  const file = join(folder, 'a.test.mjs')
  writeFileSync(file, source)
  const args = [`--import=${tracking}`, '--test', '--test-reporter=tap', file]
  const env = { PATH: process.env.PATH }
  const ended = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return { status: ended.status, output: ended.stdout }
}

suite('tracked tests', () => {
  test('belong to the suites that contain them, as do their hooks', () => {
    const { status, output } = run(nested)
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

  test('fail the run when an error is not awaited', () => {
    assert.equal(run(late.replace('REJECT', '')).status, 0)
    for (const error of [
      `Promise.reject(new Error('late'))`,
      `setTimeout(() => { throw new Error('late') }, 10)`,
    ]) {
      const { status, output } = run(late.replace('REJECT', error))
      assert.equal(status, 1, output)
      assert.match(output, /late/)
    }
  })
})
