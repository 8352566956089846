import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createRemoteJWKSet, type JWK, jwtVerify } from 'jose'

import { cloneDatabase } from '../../support/database.ts'
import { bearer, buildKeyRoutes, type KeyRoutes } from '../../support/factors/key-routes.ts'

suite('GET /.well-known/jwks.json', () => {
  test('returns the public keys, cacheable for ten minutes', async (t) => {
    const { url } = await cloneDatabase(t)
    const app = await buildKeyRoutes(t, url)

    const response = await app.inject('/.well-known/jwks.json')

    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['cache-control'], 'public, max-age=600')
    const [key, ...others] = response.json<{ keys: JWK[] }>().keys
    assert.deepEqual(others, [])
    assert.deepEqual(
      { ...key, n: 'n', kid: 'kid' },
      { kty: 'RSA', n: 'n', e: 'AQAB', kid: 'kid', alg: 'RS256', use: 'sig', key_ops: ['verify'] },
    )
  })

  test('returns no symmetric key', async (t) => {
    const { url } = await cloneDatabase(t)
    const app = await buildKeyRoutes(t, url, { AUTH_JWT_ALGORITHM: 'HS256' })

    assert.equal((await app.inject('/.well-known/jwks.json')).body, '{"keys":[]}')
  })

  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    test(`allows verifying ${alg} tokens with the URL alone`, async (t) => {
      const { url } = await cloneDatabase(t)
      const app = await buildKeyRoutes(t, url, { AUTH_JWT_ALGORITHM: alg })
      const remote = createRemoteJWKSet(await jwksAddress(app))
      const token = await app.jwt.sign({ sub: 'someone', exp: Math.ceil(Date.now() / 1000) + 60 })

      const { payload, protectedHeader } = await jwtVerify(token, remote)

      assert.equal(payload.sub, 'someone')
      assert.equal(protectedHeader.alg, alg)
    })
  }

  test('rotates on two replicas without tokens that a cached key set cannot verify', async (t) => {
    const { url } = await cloneDatabase(t)
    const [one, two] = [await buildKeyRoutes(t, url), await buildKeyRoutes(t, url)]
    const headers = await bearer(one, 'service_role')
    const rotated = { method: 'POST', url: '/admin/keys', headers } as const
    await one.inject({ ...rotated, payload: { action: 'rotate', alg: 'ES256' } })
    // Fetched once while the new key is on standby.
    const cached = createRemoteJWKSet(await jwksAddress(one), { cooldownDuration: 3_600_000 })
    const before = await one.jwt.sign({ sub: 'before' })
    await jwtVerify(before, cached)

    const later = new Date(Date.now() + 16 * 60_000)
    await Promise.all([one.jwt.keys.sync(later), two.jwt.keys.sync(later)])
    const after = await two.jwt.sign({ sub: 'after' })

    const { payload, protectedHeader } = await jwtVerify(after, cached)
    assert.deepEqual([payload.sub, protectedHeader.alg], ['after', 'ES256'])
    await jwtVerify(before, cached)
    assert.equal((await two.jwt.verify(before)).sub, 'before')
    assert.equal((await one.jwt.verify(after)).sub, 'after')
  })
})

async function jwksAddress(app: KeyRoutes): Promise<URL> {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return new URL('/.well-known/jwks.json', url)
}
