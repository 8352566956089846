/** Programs started without npm’s own Node report when it is too old. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const root = join(import.meta.dirname, '../..')
const { scripts, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

suite('outdated Node.js', () => {
  const commands: [name: string, line: string][] = Object.entries(scripts)
  for (const [script, line] of commands) {
    if (script !== 'secrets' && !line.includes(' cli.ts ')) continue
    test(`is checked first by npm run ${script}`, () => {
      assert.match(line, /^node --require=\.\/scripts\/require-node\.cjs /)
    })
  }

  test('is reported with the required version', () => {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })"
    const check = `${old}; require('./scripts/require-node.cjs')`
    const { status, stderr } = spawnSync(process.execPath, ['-e', check], { cwd: root })
    assert.equal(status, 1)
    assert.match(
      String(stderr),
      /^Node\.js 24 or later is needed, and this is 20\.19\.0: .*run npm ci/,
    )
    assert.equal(engines.node, '>=24')
  })
})

suite('missing packages', () => {
  test('are reported in one sentence', (t) => {
    const folder = temporaryFolder(t, 'bare')
    mkdirSync(join(folder, 'cli/dev'), { recursive: true })
    const needed = ['cli.ts', 'version.ts', 'server/until-signal.ts', 'server/home-folder.ts']
    for (const file of needed) cpSync(join(root, file), join(folder, file))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'cli/dev/index.ts'), "import 'fastify'\n")
    writeFileSync(join(folder, 'server/instrument.ts'), "import 'fastify'\n")
    const { status, stderr } = spawnSync(process.execPath, ['cli.ts', 'dev'], { cwd: folder })
    assert.equal(status, 1)
    assert.match(String(stderr), /^The package fastify is not installed: run npm ci \(.*\)\.\n$/)
  })
})
