/** Features of the protocol that are disabled: clients get the error codes of GoTrue. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { adminToken, autoconfirm, signUpUser } from '../../support/users.ts'

const rejections: [method: 'GET' | 'POST' | 'PUT', url: string, status: number, body: object][] = [
  ['POST', '/sso', 404, { error_code: 'saml_provider_disabled' }],
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
  ['POST', '/token?grant_type=web3', 422, { error_code: 'web3_provider_disabled' }],
]

/** Requests of a developer, each with the variable that the rejection must name. */
const named: [variable: string, method: 'GET' | 'POST' | 'PUT', url: string, body?: object][] = [
  ['AUTH_SAML_ENABLED', 'GET', '/sso/saml/metadata'],
  ['AUTH_OAUTH_SERVER_ENABLED', 'GET', '/oauth/authorize'],
  ['AUTH_OAUTH_SERVER_ENABLED', 'GET', '/admin/oauth/clients'],
  ['AUTH_CUSTOM_OAUTH_ENABLED', 'GET', '/admin/custom-providers'],
  ['AUTH_EVENTS_ENABLED', 'GET', '/admin/events'],
  ['AUTH_EXPERIMENTAL_SCIM_ENABLED', 'GET', '/scim/v2/Users'],
  ['AUTH_ORGANIZATIONS_ENABLED', 'GET', '/organizations'],
  ['AUTH_USERNAMES_ENABLED', 'PUT', '/user/username', { username: 'ann' }],
  ['AUTH_PASSKEY_ENABLED', 'POST', '/passkeys/authentication/options', {}],
  ['AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED', 'POST', '/token?grant_type=web3', {}],
  ['AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED', 'POST', '/signup', {}],
  ['AUTH_EXTERNAL_PHONE_ENABLED', 'POST', '/otp', { phone: '+15550100' }],
  ['AUTH_EXTERNAL_GOOGLE_ENABLED', 'GET', '/authorize?provider=google'],
  ['AUTH_SECURITY_MANUAL_LINKING_ENABLED', 'GET', '/user/identities/authorize?provider=google'],
  [
    'AUTH_MFA_PHONE_ENROLL_ENABLED',
    'POST',
    '/factors',
    { factor_type: 'phone', phone: '+15550100' },
  ],
]

suite('disabled features', () => {
  const server = sharedServers()

  for (const [variable, method, url, payload] of named) {
    test(`${method} ${url} names ${variable}`, async () => {
      const { app } = await server({ ...autoconfirm, AUTH_CUSTOM_OAUTH_ENABLED: 'false' })
      const isAdmins = url.startsWith('/admin/')
      const token = isAdmins ? await adminToken(app) : (await signUpUser(app)).access_token
      const headers = { authorization: `Bearer ${token}` }
      const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
      assert.ok(response.statusCode >= 400)
      assert.match(response.body, new RegExp(`\\b${variable}\\b`))
    })
  }

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
