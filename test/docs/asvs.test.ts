/** The table of the security standard in docs/security.md: complete, numbered as the standard is, shown by tests that exist. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { problemsOf, type Row, rowsOf } from '../../scripts/coverage.ts'

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
const lines = page.split('\n').filter((line) => /^\| \d+\.\d+\.\d+ \|/.test(line))

suite('the table of OWASP ASVS 5.0', () => {
  test('has thirty requirements, each once, in order', () => {
    const numbers = lines.map((line) => line.split(' | ')[0]?.slice(2) ?? '')
    assert.equal(numbers.length, 30)
    assert.equal(new Set(numbers).size, 30)
    const inOrder = numbers.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    assert.deepEqual(numbers, inOrder)
  })

  test('names tests that exist', () => {
    const evidence = { titles: {}, textWillDo: true }
    assert.deepEqual(problemsOf(lines.map(toRow), [], evidence), [])
  })
})

/** The number and the tests: the first and the last cell. */
function toRow(line: string): Row {
  const cells = line.slice(2, -2).split(' | ')
  const [row] = rowsOf(`| ${cells[0]} | ${cells.at(-1)} |`)
  assert.ok(row)
  return row
}
