/** Each algorithm’s signatures are accepted by the verifying library. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { compactVerify, decodeProtectedHeader, exportJWK, generateKeyPair, type JWK } from 'jose'

import { createSigner } from '../../../../plugins/security/jwt/index.ts'
import {
  importSigningKey,
  importVerificationKey,
  type Key,
  secretKey,
} from '../../../../plugins/security/jwt/signing-keys/key-material.ts'

const claims = { sub: 'a user', role: 'zürich' }

suite('token signer', () => {
  for (const alg of ['RS256', 'RS512', 'ES256', 'ES512', 'EdDSA']) {
    test(`${alg} verifies and is named in the header`, async () => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true })
      const jwk: JWK = { ...(await exportJWK(privateKey)), alg }
      await assertSigned(await importSigningKey(jwk), await importVerificationKey(jwk))
    })
  }

  test('HS256 verifies and is named in the header', async () => {
    const key = await secretKey(Buffer.alloc(32, 'secret'), undefined)
    await assertSigned(key, key)
  })

  test('rejects an unsupported algorithm', async () => {
    const { privateKey } = await generateKeyPair('PS256', { extractable: true })
    assert.throws(() => createSigner({ kid: 'a', alg: 'PS256', key: privateKey }), /PS256/)
  })
})

async function assertSigned({ kid, alg, key }: Key, { key: verifying }: Key): Promise<void> {
  const token = await createSigner({ kid, alg, key })(claims)
  const { payload } = await compactVerify(token, verifying)
  assert.deepEqual(JSON.parse(Buffer.from(payload).toString()), claims)
  assert.deepEqual(decodeProtectedHeader(token), { alg, typ: 'JWT', ...(kid && { kid }) })
}
