import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { loadSkeleton } from '../../../modules/usernames/rules.ts'

/** Pairs of Unicode Technical Standard #39 and of its table. */
const confusable: [string, string][] = [
  ['paypal', 'раураl'],
  ['paypal', 'paypa1'],
  ['scope', 'ѕсоре'],
  ['modern', 'rnodern'],
  ['pin\u0303a', 'piña'],
]
const different: [string, string][] = [
  ['ann', 'anna'],
  ['bob', 'b0b'],
  ['a.b', 'a-b'],
]

suite('skeleton of a username', () => {
  for (const [one, other] of confusable) {
    test(`is the same for ${one} and ${other}`, async () => {
      const computeSkeleton = await loadSkeleton()
      assert.notEqual(one, other)
      assert.equal(computeSkeleton(one), computeSkeleton(other))
    })
  }

  for (const [one, other] of different) {
    test(`differs for ${one} and ${other}`, async () => {
      const computeSkeleton = await loadSkeleton()
      assert.notEqual(computeSkeleton(one), computeSkeleton(other))
    })
  }
})
