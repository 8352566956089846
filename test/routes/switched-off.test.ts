/** Features of the protocol that are not offered: clients are told so by the codes they know. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminToken, autoconfirm, newPerson } from '../support/people.ts'
import { call, outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const refusals: [method: 'GET' | 'POST' | 'PUT', url: string, status: number, body: object][] = [
  ['POST', '/sso', 404, { error_code: 'saml_provider_disabled', msg: 'SAML 2.0 is disabled' }],
  ['GET', '/sso/saml/metadata', 404, { error_code: 'saml_provider_disabled' }],
  ['POST', '/sso/saml/acs', 404, { error_code: 'saml_provider_disabled' }],
  ['GET', '/oauth/authorize', 404, { error_code: 'feature_disabled' }],
  ['POST', '/oauth/token', 404, { error_code: 'feature_disabled' }],
  ['GET', '/admin/oauth/clients', 404, { error_code: 'feature_disabled' }],
  ['POST', '/admin/oauth/clients', 404, { error_code: 'feature_disabled' }],
  ['GET', '/.well-known/oauth-authorization-server', 404, { error_code: 'feature_disabled' }],
  ['GET', '/admin/sso/providers', 404, { error_code: 'saml_provider_disabled' }],
  ['PUT', '/admin/sso/providers/x', 404, { error_code: 'saml_provider_disabled' }],
  ['GET', '/admin/custom-providers', 404, { error_code: 'feature_disabled' }],
  ['PUT', '/admin/custom-providers/custom:x', 404, { error_code: 'feature_disabled' }],
  ['POST', '/token?grant_type=web3', 422, { msg: 'Web3 provider is disabled' }],
]

suite('what is switched off', () => {
  const server = sharedServers()

  for (const [method, url, status, body] of refusals) {
    test(`${method} ${url} is answered ${status}`, async () => {
      const { app } = await server()
      const headers = { authorization: `Bearer ${await adminToken(app)}` }
      const payload = method === 'GET' ? undefined : {}
      const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
      assert.equal(response.statusCode, status, response.body)
      const answer: Record<string, unknown> = response.json()
      assert.deepEqual({ ...answer, ...body }, answer)
    })
  }

  test('a person is told that no OAuth server is there', async () => {
    const { app } = await server(autoconfirm)
    const { access_token: token } = await newPerson(app)
    const response = await call(app, '/user/oauth/grants', undefined, { token })
    assert.deepEqual(outcomeOf(response), [404, 'feature_disabled'])
  })

  test('what is for admins or people asks for their token first', async () => {
    const { app } = await server()
    for (const url of ['/admin/sso/providers', '/admin/custom-providers', '/user/oauth/grants']) {
      assert.equal((await app.inject(url)).json().error_code, 'no_authorization', url)
    }
  })

  test('PUT /user without a token is 401 whatever the body', async () => {
    const { app } = await server()
    for (const payload of ['{"data":{}}', '{"email":7}', '{', '']) {
      const headers = { 'content-type': 'application/json' }
      const response = await app.inject({ method: 'PUT', url: '/user', headers, payload })
      assert.equal(response.statusCode, 401, `${payload}: ${response.body}`)
    }
  })
})
