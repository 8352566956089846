/** The figures of docs/sizing.md are those of the page on benchmarks, and what is made of them is reckoned right. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

const read = (name: string) =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

const page = read('sizing')

/** The day of one person, in times by scenario. */
const day: Record<string, number> = { 'sign-in': 1, refresh: 8, 'get-user': 50 }
const busiest = 10
const idleShare = 2

suite('docs/sizing.md', () => {
  const costs = [...page.matchAll(/^\| [^|]+ \| ([a-z-]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]

  test('has the measured cost of each request', () => {
    assert.equal(costs.length, 4)
    for (const [row, scenario = '', server = '', postgres = ''] of costs) {
      const measured = read('benchmarks')
        .split('\n')
        .some(
          (line) =>
            line.startsWith(`| ${scenario} | server |`) &&
            line.includes(` | ${server} | ${postgres} | `),
        )
      assert.ok(measured, row)
    }
  })

  test('reckons the cores of a day right', () => {
    const rows = [...page.matchAll(/^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]
    assert.equal(rows.length, 3)
    for (const [, people = '', ...told] of rows) {
      const aSecond = (Number(people.replaceAll(',', '')) / 86_400) * busiest
      const cores = [2, 3].map((column) => (aSecond * costOfDay(column) * idleShare) / 1000)
      for (const [index, value] of [aSecond, ...cores].entries()) {
        const said = Number(told[index])
        assert.ok(Math.abs(said - value) <= 0.06 * value + 0.005, `${people}: ${said}, ${value}`)
      }
    }
  })

  function costOfDay(column: number): number {
    return costs.reduce((sum, row) => sum + (day[row[1] ?? ''] ?? 0) * Number(row[column]), 0)
  }
})
