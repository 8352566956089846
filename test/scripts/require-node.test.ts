/** Programs that are started without npm's own Node say so when it is too old for them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const { scripts, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

suite('Node.js that is too old', () => {
  for (const [script, started] of [
    ['start', 'cli.ts serve'],
    ['secrets', 'scripts/make-secrets.ts'],
  ] as const) {
    test(`npm run ${script} says what is needed`, () => {
      assert.match(scripts[script], /^node --require=\.\/scripts\/require-node\.cjs /)
      assert.ok(scripts[script].endsWith(started))
      const old = "Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })"
      const check = `${old}; require('./scripts/require-node.cjs')`
      const { status, stderr } = spawnSync(process.execPath, ['-e', check], { cwd: root })
      assert.equal(status, 1)
      assert.match(String(stderr), /^Node\.js 24 or later is needed, and this is 20\.19\.0: /)
      assert.equal(engines.node, '>=24')
    })
  }
})
