/** Client authentication (RFC 6749 §2.3, RFC 7523 §3) at each endpoint. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { exportJWK, generateKeyPair, SignJWT } from 'jose'

import {
  basic,
  callbackUrl,
  createClient,
  makePkce,
  ownConsentPage,
  postForm,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'

const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const device = 'urn:ietf:params:oauth:grant-type:device_code'

/** With fields that are accepted once the client is. */
const endpoints: Record<string, Record<string, string>> = {
  '/oauth/token': { grant_type: device, device_code: 'x' },
  '/oauth/par': {
    redirect_uri: callbackUrl,
    response_type: 'code',
    code_challenge: makePkce().challenge,
    code_challenge_method: 'S256',
  },
  '/oauth/introspect': { token: 'x' },
  '/oauth/revoke': { token: 'x' },
  '/oauth/device_authorization': {},
}

suite('client authentication', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  const findError = async (app: App, url: string, fields: object, headers = {}) =>
    (await postForm(app, url, { ...endpoints[url], ...fields }, headers)).json().error

  const isAccepted = (error: unknown) => error === undefined || error === 'invalid_grant'

  test('accepts a secret by Basic and in the body, whichever the client registered', async () => {
    const app = await server()
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const fields = { token_endpoint_auth_method: method, grant_types: [device] }
      const client = await createClient(app, fields)
      const { client_id, client_secret } = client
      for (const url of Object.keys(endpoints)) {
        assert.ok(isAccepted(await findError(app, url, {}, basic(client))), `${method} ${url}`)
        assert.ok(isAccepted(await findError(app, url, { client_id, client_secret })), url)
        const wrong = { client_id, client_secret: 'x' }
        assert.equal(await findError(app, url, wrong), 'invalid_client', url)
        assert.equal(await findError(app, url, { client_id }), 'invalid_client', url)
        const both = await findError(app, url, { client_secret }, basic(client))
        assert.equal(both, 'invalid_client', url)
      }
    }
  })

  test('accepts no secret for a public client or one with a key', async () => {
    const app = await server()
    const open = await createClient(app, { token_endpoint_auth_method: 'none' })
    const { publicKey } = await generateKeyPair('ES256')
    const keyed = await createClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [await exportJWK(publicKey)] },
    })
    for (const { client_id } of [open, keyed]) {
      const fields = { client_id, client_secret: '' }
      const withSecret = { client_id, client_secret: 'x' }
      assert.equal(await findError(app, '/oauth/token', withSecret), 'invalid_client')
      const expected = client_id === open.client_id ? 'unauthorized_client' : 'invalid_client'
      assert.equal(await findError(app, '/oauth/token', fields), expected)
    }
  })

  test('accepts the issuer, the token endpoint and the called endpoint as audience of an assertion', async () => {
    const app = await server()
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const { client_id } = await createClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: [device],
      jwks: { keys: [await exportJWK(publicKey)] },
    })
    const sign = (audience: string | string[]) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(client_id)
        .setSubject(client_id)
        .setAudience(audience)
        .setJti(crypto.randomUUID())
        .setExpirationTime('1m')
        .sign(privateKey)
    const findErrorFor = async (url: string, audience: string | string[]) =>
      findError(app, url, { client_assertion_type: type, client_assertion: await sign(audience) })
    const base = app.config.AUTH_API_EXTERNAL_URL
    for (const url of Object.keys(endpoints)) {
      const own = [app.jwt.issuer, `${base}/oauth/token`, `${base}${url}`]
      for (const audience of [...own, ...own.map((each) => `${each}/`), own]) {
        assert.ok(isAccepted(await findErrorFor(url, audience)), `${url} ${audience}`)
      }
      for (const audience of [
        'https://other.example',
        `${base}/oauth/other`,
        [app.jwt.issuer, 'https://other.example'],
        [],
      ]) {
        assert.equal(await findErrorFor(url, audience), 'invalid_client', `${url} ${audience}`)
      }
    }
    const foreign = await findErrorFor('/oauth/introspect', `${base}/oauth/revoke`)
    assert.equal(foreign, 'invalid_client', 'an assertion for another endpoint')
  })

  test('lets scripts of any site send mcp-protocol-version and read WWW-Authenticate', async () => {
    const app = await server()
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/oauth/token',
      headers: {
        origin: 'https://inspector.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-protocol-version',
      },
    })
    const allowed = String(preflight.headers['access-control-allow-headers'])
    assert.match(allowed, /mcp-protocol-version/i)
    const headers = { origin: 'https://inspector.example' }
    const refused = await app.inject({ url: '/oauth/userinfo', headers })
    assert.match(String(refused.headers['www-authenticate']), /^Bearer /)
    assert.match(String(refused.headers['access-control-expose-headers']), /WWW-Authenticate/)
  })
})
