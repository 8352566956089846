import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { oauth1Header } from '../../providers/oauth/oauth1.ts'

suite('OAuth 1.0a signatures', () => {
  test('match the example of OAuth Core 1.0, appendix A', () => {
    const header = oauth1Header({
      url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
      consumerKey: 'dpf43f3p2l4k3l03',
      consumerSecret: 'kd94hf93k423kf44',
      token: 'nnch734d00sl2jdk',
      tokenSecret: 'pfkkdhi9sl3r4s00',
      now: new Date(1_191_242_096_000),
      nonce: 'kllo9940pd9333jh',
    })
    assert.match(header, /^OAuth oauth_consumer_key="dpf43f3p2l4k3l03", /)
    assert.match(header, /oauth_signature="tR3%2BTy81lMeYAr%2FFid0kMTYa%2FWM%3D"$/)
  })

  test('have unique nonces', () => {
    const request = { url: 'http://x.test/', consumerKey: 'k', consumerSecret: 's' }
    const headers = [1, 2].map(() =>
      oauth1Header({ ...request, token: '', tokenSecret: '', now: new Date() }),
    )
    const nonces = headers.map((header) => /oauth_nonce="(\w{32})"/.exec(header)?.[1])
    assert.ok(nonces[0])
    assert.notEqual(nonces[0], nonces[1])
  })
})
