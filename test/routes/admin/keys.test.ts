import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'

import type { SigningKey } from '../../../schemas/signing-key.ts'
import { cloneDatabase } from '../../support/database.ts'
import { bearer, buildKeyRoutes, type KeyRoutes } from '../../support/factors/key-routes.ts'
import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'

suite('/admin/keys', () => {
  /** For requests that change no key. */
  let unchanged: KeyRoutes
  const ending = endingOfSuite()
  before(async () => {
    unchanged = await build(ending)
  })

  test('GET lists keys without private parts', async () => {
    const app = unchanged

    const response = await app.inject({
      url: '/admin/keys',
      headers: await bearer(app, 'service_role'),
    })

    assert.equal(response.statusCode, 200)
    const [key] = response.json<{ keys: SigningKey[] }>().keys
    assert.deepEqual(Object.keys(key ?? {}), [
      'kid',
      'alg',
      'state',
      'created_at',
      'activates_at',
      'retires_at',
      'revoked_at',
      'pinned_by',
    ])
    assert.equal(key?.state, 'current')
  })

  test('POST rotates and revokes keys', async (t) => {
    const app = await build(t)

    const rotated = await post(app, { action: 'rotate', alg: 'EdDSA' })

    assert.deepEqual(states(rotated), ['RS256 current', 'EdDSA standby'])
    const kid = rotated.json<{ keys: SigningKey[] }>().keys[1]?.kid
    const revoked = await post(app, { action: 'revoke', kid })
    assert.deepEqual(states(revoked), ['RS256 current', 'EdDSA revoked'])
  })

  test('POST imports a private key', async (t) => {
    const app = await build(t)
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: 'brought' }

    const imported = await post(app, { action: 'import', jwk })

    assert.deepEqual(states(imported), ['RS256 current', 'ES256 standby'])
    assert.ok(!imported.body.includes(jwk.d ?? ''))
  })

  for (const kid of [{}, '', randomBytes(6_000).toString('base64')]) {
    test(`POST import rejects the key id ${String(kid).slice(0, 8)}`, async () => {
      const app = unchanged
      const { privateKey } = await generateKeyPair('ES256', { extractable: true })
      const jwk = { ...(await exportJWK(privateKey)), kid }
      const response = await post(app, { action: 'import', jwk })
      assert.equal(response.statusCode, 400, response.body)
      assert.equal((await app.jwt.keys.list()).length, 1)
    })
  }

  const invalidCases: [object, number, string][] = [
    [{ action: 'revoke' }, 400, 'validation_failed'],
    [{ action: 'revoke', kid: 'unknown' }, 404, 'validation_failed'],
    [{ action: 'import' }, 400, 'validation_failed'],
    [{ action: 'import', jwk: { kty: 'oct', k: 'x'.repeat(64) } }, 422, 'validation_failed'],
    [
      { action: 'import', jwk: { kty: 'RSA', d: 'x', n: 'x', e: 'AQAB' } },
      422,
      'validation_failed',
    ],
    [{ action: 'rotate', alg: 'none' }, 400, 'validation_failed'],
    [{ action: 'rotate', alg: 'HS256' }, 400, 'validation_failed'],
    [{ action: 'destroy' }, 400, 'validation_failed'],
    [{}, 400, 'validation_failed'],
  ]
  test('POST rejects invalid requests and changes nothing', async () => {
    const app = unchanged
    for (const [payload, status, code] of invalidCases) {
      const response = await post(app, payload)
      const { error_code } = response.json()
      assert.deepEqual([response.statusCode, error_code], [status, code], JSON.stringify(payload))
    }
    assert.equal((await app.jwt.keys.list()).length, 1)
  })

  for (const method of ['GET', 'POST'] as const) {
    test(`${method} rejects users that are not admins`, async () => {
      const app = unchanged
      const request = { method, url: '/admin/keys', payload: { action: 'rotate' } } as const

      const attackers = await app.inject(request)
      const users = await app.inject({ ...request, headers: await bearer(app, 'authenticated') })

      assert.equal(attackers.statusCode, 401)
      assert.equal(users.statusCode, 403)
      assert.equal(users.json().error_code, 'not_admin')
      assert.equal((await app.jwt.keys.list()).length, 1)
    })
  }
})

async function build(t: Ending): Promise<KeyRoutes> {
  const { url } = await cloneDatabase(t)
  return buildKeyRoutes(t, url)
}

async function post(app: KeyRoutes, payload: object) {
  const headers = await bearer(app, 'service_role')
  return app.inject({ method: 'POST', url: '/admin/keys', headers, payload })
}

function states(response: { json<T>(): T }): string[] {
  return response.json<{ keys: SigningKey[] }>().keys.map(({ alg, state }) => `${alg} ${state}`)
}
