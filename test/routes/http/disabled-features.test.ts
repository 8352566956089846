/** Features of the protocol that are disabled: clients get the error codes of GoTrue. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { adminToken, autoconfirm, signUpUser } from '../../support/users.ts'

const rejections: [method: 'GET' | 'POST' | 'PUT', url: string, status: number, body: object][] = [
  ['POST', '/sso', 404, { error_code: 'saml_provider_disabled', msg: 'SAML 2.0 is disabled' }],
  ['GET', '/sso/saml/metadata', 404, { error_code: 'saml_provider_disabled' }],
  ['POST', '/sso/saml/acs', 404, { error_code: 'saml_provider_disabled' }],
  ['GET', '/oauth/authorize', 404, { error_code: 'feature_disabled' }],
  ['POST', '/oauth/token', 404, { error_code: 'feature_disabled' }],
  ['GET', '/admin/oauth/clients', 404, { error_code: 'feature_disabled' }],
  ['POST', '/admin/oauth/clients', 404, { error_code: 'feature_disabled' }],
  ['GET', '/.well-known/oauth-authorization-server', 404, { error_code: 'feature_disabled' }],
  // Providers can be prepared while SAML is off, as with GoTrue.
  ['GET', '/admin/sso/providers', 200, { items: [] }],
  ['PUT', '/admin/sso/providers/x', 404, { error_code: 'sso_provider_not_found' }],
  ['POST', '/token?grant_type=web3', 422, { msg: 'Web3 provider is disabled' }],
]

suite('disabled features', () => {
  const server = sharedServers()

  for (const [method, url, status, body] of rejections) {
    test(`${method} ${url} returns ${status}`, async () => {
      const { app } = await server()
      const headers = { authorization: `Bearer ${await adminToken(app)}` }
      const payload = method === 'GET' ? undefined : {}
      const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
      assert.equal(response.statusCode, status, response.body)
      const reply: Record<string, unknown> = response.json()
      assert.deepEqual({ ...reply, ...body }, reply)
    })
  }

  test('returns feature_disabled for OAuth server endpoints of a user', async () => {
    const { app } = await server(autoconfirm)
    const { access_token: token } = await signUpUser(app)
    const response = await call(app, '/user/oauth/grants', undefined, { token })
    assert.deepEqual(statusAndCode(response), [404, 'feature_disabled'])
  })

  test('requires the token before reporting a disabled feature', async () => {
    const { app } = await server()
    for (const url of ['/admin/sso/providers', '/admin/custom-providers', '/user/oauth/grants']) {
      assert.equal((await app.inject(url)).json().error_code, 'no_authorization', url)
    }
  })

  test('PUT /user without a token returns 401 for each body', async () => {
    const { app } = await server()
    for (const payload of ['{"data":{}}', '{"email":7}', '{', '']) {
      const headers = { 'content-type': 'application/json' }
      const response = await app.inject({ method: 'PUT', url: '/user', headers, payload })
      assert.equal(response.statusCode, 401, `${payload}: ${response.body}`)
    }
  })
})
