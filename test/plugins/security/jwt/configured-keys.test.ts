/** Signing keys from the configuration instead of stored keys. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { decodeProtectedHeader, exportJWK, generateKeyPair, type JWK } from 'jose'

import { listSigningKeys } from '../../../../db/keys/signing-keys.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { type KeyServer, startedKeyServer } from '../../../support/signing-keys.ts'

const claims = { sub: crypto.randomUUID(), role: 'authenticated' }

suite('configured keys', () => {
  test('HS256 signs with AUTH_JWT_SECRET and creates no key', async (t) => {
    const env = { AUTH_JWT_ALGORITHM: 'HS256', AUTH_JWT_KEY_ID: 'shared' }
    const { db, keys, jwt } = await start(t, env)

    const token = await jwt.sign(claims)

    assert.deepEqual(decodeProtectedHeader(token), { alg: 'HS256', typ: 'JWT', kid: 'shared' })
    assert.equal((await jwt.verify(token)).sub, claims.sub)
    assert.deepEqual(keys.ring.publicKeys(new Date()), { keys: [] })
    assert.deepEqual(await listSigningKeys(db), [])
  })

  test('AUTH_JWT_KEYS signs with its signing key and publishes no secret', async (t) => {
    const signing = { ...(await newKey()), kid: 'mine', alg: 'ES256', key_ops: ['sign'] }
    const secret = {
      kty: 'oct',
      kid: 'old',
      alg: 'HS256',
      k: randomBytes(48).toString('base64url'),
      key_ops: ['verify'],
    }
    const env = { AUTH_JWT_KEYS: JSON.stringify([signing, secret]) }
    const { db, keys, jwt } = await start(t, env)

    const token = await jwt.sign(claims)

    assert.equal(decodeProtectedHeader(token).kid, 'mine')
    assert.equal((await jwt.verify(token)).sub, claims.sub)
    const { x, y } = signing
    assert.deepEqual(keys.ring.publicKeys(new Date()).keys, [
      { kty: 'EC', crv: 'P-256', x, y, kid: 'mine', alg: 'ES256', use: 'sig', key_ops: ['verify'] },
    ])
    assert.deepEqual(await listSigningKeys(db), [])
    await assert.rejects(keys.rotate('ES256', {}, new Date()), /AUTH_JWT_KEYS/)
  })

  test('AUTH_JWT_KEYS may sign with a secret', async (t) => {
    const k = randomBytes(48).toString('base64url')
    const secret = { kty: 'oct', kid: 'shared', alg: 'HS256', k, key_ops: ['sign', 'verify'] }
    const { keys, jwt } = await start(t, { AUTH_JWT_KEYS: JSON.stringify([secret]) })

    const token = await jwt.sign(claims)

    assert.deepEqual(decodeProtectedHeader(token), { alg: 'HS256', typ: 'JWT', kid: 'shared' })
    assert.equal((await jwt.verify(token)).sub, claims.sub)
    assert.deepEqual(keys.ring.publicKeys(new Date()), { keys: [] })
  })
})

async function start(t: TestContext, env: Record<string, string>): Promise<KeyServer> {
  const { url } = await cloneDatabase(t)
  return startedKeyServer(t, url, env)
}

async function newKey(): Promise<JWK> {
  return exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)
}
