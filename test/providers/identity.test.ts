/** Sanitized values of a profile. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { email, toProviderIdentity } from '../../providers/core/identity.ts'

const unfit = ['\0', '\ud83d']

suite('identity of a profile', () => {
  test('drops an email with characters that cannot be stored unchanged', () => {
    for (const character of unfit) {
      const emails = email(`ann${character}@ex.test`, { verified: true })
      const identity = toProviderIdentity({ sub: 'k1', claims: {}, emails })
      assert.deepEqual(identity.emails, [])
      assert.equal(identity.claims.email, undefined)
    }
  })

  test('drops tokens with characters that cannot be stored unchanged', () => {
    const profile = { sub: 'k1', claims: {}, emails: [] }
    const tokens = { tokenType: 'Bearer', idToken: '', reply: undefined }
    for (const character of unfit) {
      const [accessToken, refreshToken] = [`a${character}`, `r${character}`]
      const { providerToken, providerRefreshToken } = toProviderIdentity(profile, {
        ...tokens,
        accessToken,
        refreshToken,
      })
      assert.deepEqual([providerToken, providerRefreshToken], [undefined, undefined])
    }
  })
})
