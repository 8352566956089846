/** What of a profile is kept, and what is not fit to be. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { email, toIdentity } from '../../providers/identity.ts'

const unfit = ['\0', '\ud83d']

suite('the identity of a profile', () => {
  test('has no address that would be another one once it can be stored', () => {
    for (const character of unfit) {
      const emails = email(`ann${character}@ex.test`, { verified: true })
      const identity = toIdentity({ sub: 'k1', claims: {}, emails })
      assert.deepEqual(identity.emails, [])
      assert.equal(identity.claims.email, undefined)
    }
  })

  test('has no tokens that would be others once they can be stored', () => {
    const profile = { sub: 'k1', claims: {}, emails: [] }
    const tokens = { tokenType: 'Bearer', idToken: '', reply: undefined }
    for (const character of unfit) {
      const [accessToken, refreshToken] = [`a${character}`, `r${character}`]
      const { providerToken, providerRefreshToken } = toIdentity(profile, {
        ...{ ...tokens, accessToken, refreshToken },
      })
      assert.deepEqual([providerToken, providerRefreshToken], [undefined, undefined])
    }
  })
})
