/** .github/workflows: checked by actionlint, and by rules of our own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite, test } from 'node:test'

import { parse } from 'yaml'

import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { missing } from '../programs.ts'

const root = join(import.meta.dirname, '../../..')
const files = globSync(join(root, '.github/workflows/*.yml'))

interface Workflow {
  permissions?: Record<string, string>
  jobs: Record<string, { permissions?: Record<string, string>; 'timeout-minutes'?: number }>
}

suite('workflows', () => {
  test('pass actionlint', { skip: missing('actionlint') }, () => {
    const { status, stdout } = spawnSync('actionlint', ['-no-color'], {
      cwd: root,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
    assert.ok(files.length >= 5)
  })

  test('with an unknown input fail actionlint', { skip: missing('actionlint') }, (t) => {
    const folder = temporaryFolder(t, 'workflow')
    mkdirSync(join(folder, '.github'))
    const file = join(folder, '.github/test.yml')
    const text = readFileSync(join(root, '.github/workflows/test.yml'), 'utf8')
    writeFileSync(file, text.replace('timeout-minutes:', 'timeout:'))
    const { status, stdout } = spawnSync('actionlint', ['-no-color', file], { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stdout, /unexpected key "timeout"/)
  })

  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const workflow: Workflow = parse(text)

    test(`${basename(file)} pins each action to a commit and names its version`, () => {
      for (const [, used = ''] of text.matchAll(/uses: (.*)/g)) {
        assert.match(used, /^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      }
    })

    test(`${basename(file)} grants permissions and a time limit by job`, () => {
      assert.deepEqual(workflow.permissions, {})
      for (const [name, job] of Object.entries(workflow.jobs)) {
        assert.ok(job.permissions && Object.keys(job.permissions).length > 0, name)
        assert.ok(job['timeout-minutes'], name)
      }
    })

    test(`${basename(file)} runs on no event with rights for foreign code`, () => {
      assert.doesNotMatch(text, /pull_request_target|workflow_run/)
    })
  }

  test('use the versions that docs/releasing.md names', () => {
    const page = readFileSync(join(root, 'docs/releasing.md'), 'utf8')
    const named = [...page.matchAll(/^\| ([\w-]+\/[\w-]+) \| (\d+\.\d+\.\d+) \|$/gm)]
    const used = files.flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/uses: ([\w-]+\/[\w-]+)\S*@\w+ # v(\S+)/g),
    ])
    const pairs = (matches: RegExpExecArray[]) =>
      [...new Set(matches.map(([, name, version]) => `${name} ${version}`))].toSorted()
    assert.deepEqual(pairs(named), pairs(used))
  })
})
