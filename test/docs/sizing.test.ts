/** The figures of docs/sizing.md are those of the benchmark page, and its calculations are correct. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

const read = (name: string) =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

const page = read('sizing')

/** Requests of a user per day, by scenario. */
const day: Record<string, number> = { 'sign-in': 1, refresh: 8, 'get-user': 50 }
const busiest = 10
const idleShare = 2

suite('docs/sizing.md', () => {
  const costs = [...page.matchAll(/^\| [^|]+ \| ([a-z-]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]

  test('contains the measured cost of each request', () => {
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

  test('calculates the cores per day', () => {
    const rows = [...page.matchAll(/^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]
    assert.equal(rows.length, 3)
    for (const [, users = '', ...reported] of rows) {
      const aSecond = (Number(users.replaceAll(',', '')) / 86_400) * busiest
      const cores = [2, 3].map((column) => (aSecond * costOfDay(column) * idleShare) / 1000)
      for (const [index, value] of [aSecond, ...cores].entries()) {
        const output = Number(reported[index])
        assert.ok(Math.abs(output - value) <= 0.06 * value + 0.005, `${users}: ${output}, ${value}`)
      }
    }
  })

  function costOfDay(column: number): number {
    return costs.reduce((sum, row) => sum + (day[row[1] ?? ''] ?? 0) * Number(row[column]), 0)
  }
})
