/** The pages about security standards: complete, in order, shown by tests that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { findProblems, parseRows } from '../../scripts/coverage.ts'

const docs = join(import.meta.dirname, '../../docs')
const read = (page: string) => readFileSync(join(docs, page), 'utf8')

/** Requirements of levels 1 and 2 in the chapters of docs/security/asvs.md: section, and number of the last one. */
const sections: Record<string, number[]> = {
  '6.1': [3],
  '6.2': [12],
  '6.3': [4],
  '6.4': [4],
  '6.5': [5],
  '6.6': [3],
  '6.8': [4],
  '7.1': [3],
  '7.2': [4],
  '7.3': [2],
  '7.4': [5],
  '7.5': [2],
  '7.6': [2],
  '9.1': [3],
  '9.2': [4],
  '10.1': [2],
  '10.2': [2],
  '10.3': [4],
  '10.4': [11],
  '10.5': [5],
  '10.6': [2],
  '10.7': [3],
}
const numbers = Object.entries(sections).flatMap(([section, [last = 0]]) =>
  Array.from({ length: last }, (_, index) => `${section}.${index + 1}`),
)
const states = ['met', 'setting', 'gap', 'yours', 'none']

interface Row {
  what: string
  cells: string[]
  /** The last cell: tests, links to pages, or nothing. */
  shown: string
}

suite('docs/security/asvs.md', () => {
  const rows = rowsIn(read('security/asvs.md'), /^\| \d+\.\d+\.\d+ \|/)

  test('lists every requirement of levels 1 and 2 once and in order', () => {
    assert.equal(numbers.length, 89)
    assert.deepEqual(
      rows.map(({ what }) => what),
      numbers,
    )
  })

  test('states level, state and explanation of each requirement', () => {
    for (const { what, cells } of rows) {
      assert.equal(cells.length, 6, what)
      const [, level = '', requirement = '', state = '', how = ''] = cells
      assert.match(level, /^[12]$/, what)
      assert.ok(requirement.length > 10 && how.length > 5, what)
      assert.ok(states.includes(state), `${what} ${state}`)
    }
  })

  test('shows each met requirement by a test or a page', () => {
    const unshown = rows.filter(({ cells, shown }) => cells[3] === 'met' && shown === '')
    assert.deepEqual(
      unshown.map(({ what }) => what),
      [],
    )
  })

  test('cites existing tests and pages', () => assert.deepEqual(wrongCitations(rows), []))
})

suite('other tables of security pages', () => {
  test('docs/security.md lists requirements of other chapters with existing tests', () => {
    const rows = rowsIn(read('security.md'), /^\| \d+\.\d+\.\d+ \|/)
    assert.ok(rows.length >= 8)
    assert.deepEqual(
      rows.filter(({ what }) => /^(6|7|9|10)\./.test(what)),
      [],
    )
    assert.deepEqual(wrongCitations(rows), [])
  })

  test('docs/security/threat-model.md covers each kind of threat with existing tests', () => {
    const rows = rowsIn(read('security/threat-model.md'), /^\| [STRIDE] \|/, 4)
    assert.deepEqual([...new Set(rows.map(({ what }) => what))], [...'STRIDE'])
    assert.deepEqual(wrongCitations(rows), [])
  })
})

function rowsIn(page: string, pattern: RegExp, shownAt = -1): Row[] {
  const lines = page.split('\n').filter((line) => pattern.test(line))
  return lines.map((line) => {
    const cells = line
      .slice(2, -1)
      .split(' | ')
      .map((cell) => cell.trim())
    return { what: cells[0] ?? '', cells, shown: cells.at(shownAt) ?? '' }
  })
}

function wrongCitations(rows: readonly Row[]): string[] {
  const evidence = { titles: {}, textWillDo: true }
  return rows.flatMap(({ what, shown }) => {
    const [pages, tests] = [parts(shown, true), parts(shown, false)]
    const missing = pages.filter((link) => !existsSync(join(docs, 'security', getPath(link))))
    const cited = tests.length === 0 ? [] : parseRows(`| ${what} | ${tests.join('<br>')} |`)
    return [...missing, ...findProblems(cited, [], evidence)]
  })
}

/** Links to pages begin with a bracket, tests with their path. */
function parts(shown: string, isLink: boolean): string[] {
  return shown.split('<br>').filter((part) => part !== '' && part.startsWith('[') === isLink)
}

const getPath = (link: string) => /\]\(([^)#]+)/.exec(link)?.[1] ?? link
