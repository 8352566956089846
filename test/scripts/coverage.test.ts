import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { type CoverageClaim, findProblems, parseRows } from '../../scripts/coverage.ts'
import { specifiedVariables } from '../../scripts/specification.ts'

const here = 'test/scripts/coverage.test.ts'
const page = (what: string, cell: string) =>
  `| The specification | Shown by |\n|---|---|\n| ${what} | ${cell} |\n`

const wrong: Record<string, [what: string, cell: string, variables: string[], problem: RegExp]> = {
  'a missing test file': ['x', 'test/gone.test.ts › a', [], /no test file test\/gone/],
  'a file that is not a test': ['x', 'README.md › Postern', [], /no test file README/],
  'a missing title': ['x', 'test/run.ts › no such words', [], /has no "no such words"/],
  'no title': ['x', here, [], /no title/],
  'no test': ['x', '', [], /no test file/],
  'a variable without a row': ['`AUTH_A`', `${here} › no title`, ['AUTH_B'], /AUTH_B has no row/],
}

const right: Record<string, [what: string, variables: string[]]> = {
  'two names of one setting': ['`PORT`, `AUTH_API_PORT`', ['PORT', 'AUTH_API_PORT']],
  'one variable per provider': ['`AUTH_EXTERNAL_X_SECRET`', ['AUTH_EXTERNAL_GITHUB_SECRET']],
  'one variable per email type': [
    '`AUTH_MAILER_TEMPLATES_<KIND>`',
    ['AUTH_MAILER_TEMPLATES_MAGIC_LINK'],
  ],
}

const byText: CoverageClaim = { titles: {}, textWillDo: true }

suite('docs/coverage.md', () => {
  test('cites existing tests and lists each variable', () => {
    const rows = parseRows(readFileSync(new URL('../../docs/coverage.md', import.meta.url), 'utf8'))
    assert.ok(rows.length > 100)
    assert.deepEqual(findProblems(rows, specifiedVariables, byText), [])
  })

  for (const [name, [what, cell, variables, problem]] of Object.entries(wrong)) {
    test(`reports ${name}`, () => {
      const problems = findProblems(parseRows(page(what, cell)), variables, byText)
      assert.equal(problems.length, 1)
      assert.match(problems[0] ?? '', problem)
    })
  }

  for (const [name, [what, variables]] of Object.entries(right)) {
    test(`accepts ${name}`, () => {
      assert.deepEqual(
        findProblems(parseRows(page(what, `${here} › no title`)), variables, byText),
        [],
      )
    })
  }
})

suite('titles listed by the test runner', () => {
  const full = ['a', 'a › b', 'a › b c', 'a › twice', 'd › twice']
  const found: Record<string, string | undefined> = {
    'a › b': undefined,
    b: undefined,
    a: undefined,
    'd › twice': undefined,
    c: 'no "c"',
    'no title': 'no "no title"',
    twice: '2 of "twice"',
  }
  for (const [title, objection] of Object.entries(found)) {
    test(`${title}: ${objection ?? 'one test, or the suite of several'}`, () => {
      const evidence = { titles: { [here]: full }, textWillDo: false }
      const problems = findProblems(parseRows(page('x', `${here} › ${title}`)), [], evidence)
      assert.deepEqual(problems, objection === undefined ? [] : [`x: ${here} has ${objection}`])
    })
  }

  test('reports a file that no run has listed', () => {
    const evidence = { titles: {}, textWillDo: false }
    const [problem] = findProblems(parseRows(page('x', `${here} › no title`)), [], evidence)
    assert.match(problem ?? '', /no test run/)
  })

  test('matches template literals without a list', () => {
    const rows = parseRows(page('x', `${here} › titles on the list of the runner › b: two of them`))
    assert.deepEqual(findProblems(rows, [], byText), [])
  })
})
