import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { problemsOf, rowsOf } from '../../scripts/coverage.ts'
import { specifiedVariables } from '../../scripts/specification.ts'

const here = 'test/scripts/coverage.test.ts'
const page = (what: string, cell: string) =>
  `| The specification | Shown by |\n|---|---|\n| ${what} | ${cell} |\n`

const wrong: Record<string, [what: string, cell: string, variables: string[], problem: RegExp]> = {
  'a test file that is gone': ['x', 'test/gone.test.ts › a', [], /no test file test\/gone/],
  'a file that is no test': ['x', 'README.md › Postern', [], /no test file README/],
  'a title that is gone': ['x', 'test/run.ts › no such words', [], /has no "no such words"/],
  'no title': ['x', here, [], /no title/],
  'no test at all': ['x', '', [], /no test file/],
  'a variable without a row': ['`AUTH_A`', `${here} › no title`, ['AUTH_B'], /AUTH_B has no row/],
}

const right: Record<string, [what: string, variables: string[]]> = {
  'two names of one setting': ['`PORT`, `AUTH_API_PORT`', ['PORT', 'AUTH_API_PORT']],
  'one for each provider': ['`AUTH_EXTERNAL_X_SECRET`', ['AUTH_EXTERNAL_GITHUB_SECRET']],
  'one for each kind of mail': [
    '`AUTH_MAILER_TEMPLATES_<KIND>`',
    ['AUTH_MAILER_TEMPLATES_MAGIC_LINK'],
  ],
}

suite('docs/coverage.md', () => {
  test('names tests that exist, and has every variable', () => {
    const rows = rowsOf(readFileSync(new URL('../../docs/coverage.md', import.meta.url), 'utf8'))
    assert.ok(rows.length > 100)
    assert.deepEqual(problemsOf(rows, specifiedVariables), [])
  })

  for (const [name, [what, cell, variables, problem]] of Object.entries(wrong)) {
    test(`${name} is a problem`, () => {
      const problems = problemsOf(rowsOf(page(what, cell)), variables)
      assert.equal(problems.length, 1)
      assert.match(problems[0] ?? '', problem)
    })
  }

  for (const [name, [what, variables]] of Object.entries(right)) {
    test(`${name} is covered`, () => {
      assert.deepEqual(problemsOf(rowsOf(page(what, `${here} › no title`)), variables), [])
    })
  }
})
