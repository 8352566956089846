/** Every way to forge an id_token. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { suite, test } from 'node:test'

import { exportSPKI } from 'jose'

import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import {
  attempt,
  base,
  encode,
  idTokenError,
  token,
  unsigned,
} from '../support/providers/id-tokens.ts'
import { foreign, signing } from '../support/providers/keys.ts'

suite('forged id_tokens', () => {
  const forged: Record<string, () => Promise<string> | string> = {
    'a text that is not a JWT': () => 'abc',
    'a token of two parts': () => 'e30.e30',
    'the algorithm none': () => unsigned({ alg: 'none' }, ''),
    'the algorithm none with a copied signature': async () => {
      const [, , signature = ''] = (await token({})).split('.')
      return unsigned({ alg: 'none', kid: 'key-1' }, signature)
    },
    'HS256 with the public key': async () => {
      const head = unsigned({ alg: 'HS256', kid: 'key-1' }, '').slice(0, -1)
      const publicKey = await exportSPKI(signing.publicKey)
      return `${head}.${createHmac('sha256', publicKey).update(head).digest('base64url')}`
    },
    'another key with the same id': () => token({}, foreign),
    'claims changed after signing': async () => {
      const [head, , signature] = (await token({})).split('.')
      return `${head}.${encode({ ...base, sub: 'evil' })}.${signature}`
    },
    'an embedded key': () => unsigned({ alg: 'RS256', jwk: foreign.jwk }, 'x'),
  }
  for (const [title, forge] of Object.entries(forged)) {
    test(`rejects ${title}`, async () => {
      const idToken = await forge()
      const rejected = attempt({ provider: 'google', idToken })
      assert.equal(await idTokenError(rejected), 'invalid_request')
      await assert.rejects(rejected, { message: /^Bad ID token/ })
    })
  }

  test('rejects HS256 with a published symmetric key', async () => {
    const issuer = fakeIssuer()
    const secret = Buffer.from('every user knows these 32 bytes..')
    issuer.state.keys = [signing.jwk, { kty: 'oct', kid: 'oct-1', k: secret.toString('base64url') }]
    const head = unsigned({ alg: 'HS256', kid: 'oct-1' }, '').slice(0, -1)
    const idToken = `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
    const error = await idTokenError(attempt({ provider: 'google', idToken }, { issuer }))
    assert.equal(error, 'invalid_request')
  })
})
