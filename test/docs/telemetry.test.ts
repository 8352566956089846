/** docs/telemetry.md: every metric that there is, by the name and with the labels that Prometheus shows. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import {
  counters,
  gauges,
  histograms,
  readCounters,
} from '../../plugins/observability/telemetry/instruments.ts'

const text = readFileSync(join(import.meta.dirname, '../../docs/telemetry.md'), 'utf8')
const rows = text.split('\n').filter((line) => line.startsWith('| `'))

const metrics = [
  ...Object.entries({ ...counters, ...readCounters }).map(
    ([name, { labels }]) => [`${shown(name)}_total`, labels] as const,
  ),
  ...Object.entries({ ...histograms, ...gauges }).map(
    ([name, { labels }]) => [shown(name), labels] as const,
  ),
]

function shown(name: string): string {
  return name.replaceAll('.', '_')
}

suite('docs/telemetry.md', () => {
  for (const [name, labels] of metrics) {
    test(`lists ${name}`, () => {
      const row = rows.find((line) => line.includes(`\`${name}\``))
      assert.ok(row)
      for (const label of labels) assert.ok(row.includes(`\`${shown(label)}\``), label)
    })
  }
})
