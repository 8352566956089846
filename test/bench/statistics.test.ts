import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { comparePairs, median, quantile } from '../../bench/statistics.ts'

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

  // i is above j + 10.5 in 49 + 48 + ... + 1 of the 3600 pairs.
  test('counts the pairs of two samples in which the first value is greater', () => {
    const first = Array.from({ length: 60 }, (_, i) => i)
    const second = Array.from({ length: 60 }, (_, i) => i + 10.5)
    const { greater, deviation } = comparePairs(first, second)
    assert.equal(greater, 1225 / 3600)
    assert.equal(deviation, Math.sqrt(121 / (12 * 3600)))
  })

  test('counts equal values as half a pair', () => {
    const values = Array.from({ length: 80 }, (_, i) => Math.floor(i / 8))
    assert.equal(comparePairs(values, values).greater, 0.5)
  })
})
