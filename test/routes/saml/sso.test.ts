/** POST /sso and GET /sso/saml/metadata: requests, rejections, and the certificate. */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { suite, test } from 'node:test'

import { selfSignedCertificate } from '../../../providers/saml/sp-metadata.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { certificateByGo, keyOfGo } from '../../support/saml/go-certificate.ts'
import { addIdp, nextSpKey, samlOn } from '../../support/saml/server.ts'

const challenge = 'c'.repeat(43)

suite('POST /sso', () => {
  const server = sharedServers()

  const rejected: Record<string, [body: object, status: number, code: string]> = {
    'neither provider_id nor domain': [{}, 400, 'validation_failed'],
    'both provider_id and domain': [
      { provider_id: crypto.randomUUID(), domain: 'corp.example' },
      400,
      'validation_failed',
    ],
    'the nil UUID alone': [
      { provider_id: '00000000-0000-0000-0000-000000000000' },
      400,
      'validation_failed',
    ],
    'a malformed provider_id': [{ provider_id: 'corp' }, 400, 'bad_json'],
    'an unknown provider': [{ provider_id: crypto.randomUUID() }, 404, 'sso_provider_not_found'],
    'an unknown domain': [{ domain: 'unknown.example' }, 404, 'sso_provider_not_found'],
    'a challenge without method': [
      { domain: 'corp.example', code_challenge: challenge },
      400,
      'validation_failed',
    ],
    'a method without challenge': [
      { domain: 'corp.example', code_challenge_method: 's256' },
      400,
      'validation_failed',
    ],
  }
  for (const [title, [body, status, code]] of Object.entries(rejected)) {
    test(`rejects ${title} with ${status} ${code}`, async () => {
      const { app } = await server(samlOn)
      assert.deepEqual(statusAndCode(await call(app, '/sso', body)), [status, code])
    })
  }

  test('accepts null PKCE fields, as the SDK sends them in the implicit flow', async () => {
    const { app } = await server(samlOn)
    const { id } = await addIdp(app)
    const body = { provider_id: id, code_challenge: null, code_challenge_method: null }
    const response = await call(app, '/sso', { ...body, skip_http_redirect: true })
    assert.equal(response.statusCode, 200, response.body)
  })

  test('limits requests and assertions separately', async () => {
    const limits = { AUTH_RATE_LIMIT_SSO: '1', AUTH_SAML_RATE_LIMIT_ASSERTION: '2' }
    const { app } = await server({ ...samlOn, ...limits, AUTH_RATE_LIMIT_HEADER: 'x-real-ip' })
    const headers = { 'x-real-ip': '192.0.2.9' }
    const ask = async (url: string) => (await call(app, url, {}, { headers })).statusCode
    assert.deepEqual([await ask('/sso'), await ask('/sso')], [400, 429])
    const posted = [
      await ask('/sso/saml/acs'),
      await ask('/sso/saml/acs'),
      await ask('/sso/saml/acs'),
    ]
    assert.equal(posted[2], 429)
  })

  test('returns 404 saml_provider_disabled on each path while SAML is off', async () => {
    const { app } = await server()
    for (const url of ['/sso', '/sso/saml/metadata', '/sso/saml/acs', '/sso/anything']) {
      const response = await call(app, url, {}, { method: 'POST' })
      assert.deepEqual(statusAndCode(response), [404, 'saml_provider_disabled'], url)
    }
  })

  test('returns 405 for GET /sso/saml/acs', async () => {
    const { app } = await server(samlOn)
    const response = await app.inject('/sso/saml/acs')
    assert.deepEqual([response.statusCode, response.headers.allow], [405, 'POST'])
  })

  test('GET /settings reports whether SAML is enabled and whether a next key is set', async () => {
    const settings = async (env: Record<string, string>) => {
      const { app } = await server(env)
      const { saml_enabled, saml_private_key_next_configured } = (
        await app.inject('/settings')
      ).json()
      return [saml_enabled, saml_private_key_next_configured]
    }
    assert.deepEqual(await settings({}), [false, false])
    assert.deepEqual(await settings(samlOn), [true, false])
    assert.deepEqual(await settings({ ...samlOn, AUTH_SAML_PRIVATE_KEY_NEXT: nextSpKey }), [
      true,
      true,
    ])
  })
})

suite('GET /sso/saml/metadata', () => {
  const server = sharedServers()

  test('contains entity, endpoint and certificate, valid for two days', async () => {
    const env = { ...samlOn, AUTH_SAML_EXTERNAL_URL: 'https://sso.example/base' }
    const { app } = await server(env)
    const { body, headers } = await app.inject('/sso/saml/metadata')
    assert.match(String(headers['content-type']), /^application\/xml/)
    assert.equal(headers['cache-control'], 'public, max-age=600')
    assert.ok(body.includes('entityID="https://sso.example/base/sso/saml/metadata"'))
    assert.ok(body.includes('Location="https://sso.example/base/sso/saml/acs" index="1"'))
    assert.ok(body.includes('WantAssertionsSigned="true"'))
    const [, until = ''] = /validUntil="([^"]+)"/.exec(body) ?? []
    const days = (Date.parse(until) - Date.now()) / 86_400_000
    assert.ok(days > 1.9 && days < 2.1)
    assert.deepEqual(
      [...body.matchAll(/KeyDescriptor use="(\w+)"/g)].map(([, use]) => use),
      ['signing'],
    )
  })

  test('is valid for years when downloaded', async () => {
    const { app } = await server(samlOn)
    const { headers, body } = await app.inject('/sso/saml/metadata?download=true')
    assert.equal(headers['content-disposition'], 'attachment; filename="metadata.xml"')
    const [, until = ''] = /validUntil="([^"]+)"/.exec(body) ?? []
    assert.ok(Date.parse(until) - Date.now() > 4.9 * 365 * 86_400_000)
  })

  test('contains both certificates with a short lifetime while a next key is set', async () => {
    const { app } = await server({ ...samlOn, AUTH_SAML_PRIVATE_KEY_NEXT: nextSpKey })
    const { body, headers } = await app.inject('/sso/saml/metadata')
    assert.equal(headers['cache-control'], 'public, max-age=60')
    assert.ok(body.includes('cacheDuration="PT1H"'))
    const certificates = [...body.matchAll(/<X509Certificate>([^<]+)/g)].map(([, text]) => text)
    assert.equal(new Set(certificates).size, 2)
  })

  test('contains the same certificate as GoTrue, byte for byte', () => {
    const privateKey = createPrivateKey({
      key: Buffer.from(keyOfGo, 'base64'),
      format: 'der',
      type: 'pkcs1',
    })
    for (const [encrypts, host] of [
      [false, 'auth.example.com'],
      [true, 'auth_x.example.com'],
    ] as const) {
      const made = selfSignedCertificate({ privateKey, host, encrypts })
      assert.equal(made.toString('base64'), certificateByGo[host])
    }
  })
})
