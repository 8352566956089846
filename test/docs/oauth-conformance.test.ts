/** docs/oauth-conformance.md cites tests that exist, for every test of the plans. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

const rows = readFileSync('docs/oauth-conformance.md', 'utf8')
  .split('\n')
  .filter((line) => line.includes('| `oidcc-'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, plans = '', id = '', , , cited = '']) => {
    const [file = '', title = ''] = cited.split(' › ')
    return { plans, id: id.replaceAll('`', ''), file, title }
  })

/** How many tests each plan of release 5.1.41 has. */
const counts = { B: 38, C: 1, D: 23, L: 11 }

suite('docs/oauth-conformance.md', () => {
  test('has a row for every test of the four plans', () => {
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
    for (const [plan, count] of Object.entries(counts)) {
      const listed = rows.filter(({ plans }) => plans.split(', ').includes(plan))
      assert.equal(listed.length, count, plan)
    }
  })

  test('cites tests that exist', () => {
    for (const { id, file, title } of rows) {
      assert.ok(existsSync(file), `${id}: there is no ${file}`)
      const text = readFileSync(file, 'utf8')
      assert.ok(title !== '' && text.includes(`test('${title}'`), `${id}: ${file} › ${title}`)
    }
  })
})
