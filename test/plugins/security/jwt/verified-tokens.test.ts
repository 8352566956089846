import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createVerifiedTokens } from '../../../../plugins/security/jwt/verify-token.ts'

suite('verified token cache', () => {
  test('evicts the least recently used token and skips long ones', () => {
    const tokens = createVerifiedTokens(2)
    tokens.set('a', {})
    tokens.set('b', {})
    tokens.get('a')
    tokens.set('c', {})
    tokens.set('x'.repeat(5_000), {})

    assert.deepEqual(
      ['a', 'b', 'c', 'x'.repeat(5_000)].map((token) => tokens.get(token) !== undefined),
      [true, false, true, false],
    )
  })
})
