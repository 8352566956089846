import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { suite, test } from 'node:test'

import { matchesCodeChallenge } from '../../modules/flows/pkce.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { sources } from '../architecture/sources.ts'

suite('constant-time comparison', () => {
  test('compares texts', () => {
    assert.equal(isEqualInConstantTime('123456', '123456'), true)
    assert.equal(isEqualInConstantTime('123456', '123457'), false)
    assert.equal(isEqualInConstantTime('123456', '1234567'), false)
    assert.equal(isEqualInConstantTime('', 'x'), false)
  })

  const compared: Record<string, () => boolean> = {
    'two codes': () => isEqualInConstantTime('1', '123456'),
    'a verifier and its challenge': () =>
      matchesCodeChallenge('short', { challenge: 'c'.repeat(128), method: 'plain' }),
  }
  for (const [name, compare] of Object.entries(compared)) {
    test(`compares ${name} of different lengths by bytes too`, (t) => {
      const compareBytes = t.mock.method(crypto, 'timingSafeEqual')
      syncBuiltinESMExports()
      t.after(() => {
        compareBytes.mock.restore()
        syncBuiltinESMExports()
      })
      assert.equal(compare(), false)
      assert.equal(compareBytes.mock.callCount(), 1)
    })
  }

  test('is used without comparing lengths first', () => {
    const early = sources(['{routes,modules,plugins,schemas,providers}/**/*.ts'])
      .filter(({ text }) => /\.length [!=]== [\w.]+\.length (&&|\|\|) !?timingSafeEqual/.test(text))
      .map(({ path }) => path)
    // Hashes of passwords: their length is the algorithm's, not the secret's.
    assert.deepEqual(early, ['plugins/security/passwords/hashes.ts'])
  })
})
