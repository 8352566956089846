import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cloneDatabase } from '../../support/database.ts'
import { buildKeyRoutes } from '../../support/factors/key-routes.ts'

suite('GET /.well-known/openid-configuration', () => {
  test('returns the JWKS URL and the signing algorithm', async (t) => {
    const { url } = await cloneDatabase(t)
    const app = await buildKeyRoutes(t, url, { AUTH_JWT_ALGORITHM: 'ES256' })

    const response = await app.inject('/.well-known/openid-configuration')

    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['cache-control'], 'public, max-age=600')
    const metadata = response.json<Record<string, unknown>>()
    assert.equal(metadata.issuer, 'http://auth.example')
    assert.equal(metadata.jwks_uri, 'http://auth.example/.well-known/jwks.json')
    assert.equal(metadata.token_endpoint, 'http://auth.example/oauth/token')
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['ES256'])
  })

  test('keeps URLs when AUTH_JWT_ISSUER is not a URL', async (t) => {
    const { url } = await cloneDatabase(t)
    const app = await buildKeyRoutes(t, url, { AUTH_JWT_ISSUER: 'urn:example:issuer' })

    const metadata = (await app.inject('/.well-known/openid-configuration')).json()

    assert.equal(metadata.issuer, 'urn:example:issuer')
    assert.equal(metadata.jwks_uri, 'http://auth.example/.well-known/jwks.json')
  })
})
