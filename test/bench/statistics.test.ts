import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { compare, median, quantile } from '../../bench/statistics.ts'

suite('statistics', () => {
  test('computes quantiles by nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, i) => i + 1)
    assert.deepEqual(
      [0, 0.5, 0.95, 0.99, 1].map((share) => quantile(values, share)),
      [1, 50, 95, 99, 100],
    )
    assert.equal(median([9, 1, 5]), 5)
    assert.ok(Number.isNaN(quantile([], 0.5)))
  })

  // i is above j + 10.5 in 49 + 48 + ... + 1 of the 3600 pairs, so z = 575 / sqrt(3600 * 121 / 12);
  // the distance is 11 of 60 steps..
  test('compares two samples with a known result', () => {
    const first = Array.from({ length: 60 }, (_, i) => i)
    const second = Array.from({ length: 60 }, (_, i) => i + 10.5)
    const { dominance, rankP, distance, distanceP } = compare(first, second)
    near(dominance, 1225 / 3600, 1e-12)
    near(rankP, 0.00254476, 2e-7)
    near(distance, 11 / 60, 1e-12)
    near(distanceP, 0.239376, 1e-5)
  })

  test('finds equal samples equal, with ties', () => {
    const values = Array.from({ length: 80 }, (_, i) => Math.floor(i / 8))
    const { dominance, rankP, distance, distanceP } = compare(values, values)
    assert.equal(dominance, 0.5)
    near(rankP, 1, 1e-6)
    assert.equal(distance, 0)
    assert.equal(distanceP, 1)
  })

  test('distinguishes samples of equal median and different spread', () => {
    const narrow = Array.from({ length: 200 }, (_, i) => (i - 99.5) / 10)
    const wide = narrow.map((value) => value * 5)
    const { rankP, distanceP } = compare(narrow, wide)
    assert.ok(rankP > 0.9)
    assert.ok(distanceP < 1e-6)
  })
})

function near(actual: number, expected: number, tolerance: number) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`)
}
