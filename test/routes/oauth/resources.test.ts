/** Resource indicators (RFC 8707) are compared as URIs (RFC 3986 §6.2). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import {
  basic,
  callbackUrl,
  createClient,
  decodeClaims,
  exchangeCode,
  makePkce,
  obtainCode,
  ownConsentPage,
  postForm,
  refreshTokens,
  requestAuthorization,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

/** As the operator wrote it, and as URL classes write it. */
const resource = 'https://MCP.example.com'
const sent = 'https://mcp.example.com/'
const other = 'https://api.example.com/v1'

suite('resource', () => {
  const serverFor = sharedServers()
  const server = async () =>
    (await serverFor({ ...ownConsentPage, AUTH_OAUTH_SERVER_RESOURCES: `${resource},${other}` }))
      .app

  const audience = (token: string) => decodeClaims(token).aud

  test('is one in every equivalent form, at each endpoint; aud is the registered form', async () => {
    const app = await server()
    const [client, user] = [await createClient(app), await signUpUser(app)]
    const { code, verifier } = await obtainCode(app, client, user, { resource: sent })
    const asked = { code_verifier: verifier, resource: `${resource}:443` }
    const tokens = (await exchangeCode(app, client, code, asked)).json()
    assert.deepEqual(audience(tokens.access_token), [resource, 'authenticated'])
    const refreshed = await refreshTokens(app, client, tokens.refresh_token, { resource: sent })
    assert.deepEqual(audience(refreshed.json().access_token), [resource, 'authenticated'])
    assert.equal((await push(app, client, sent)).statusCode, 201)
    assert.equal((await push(app, client, `${sent}mcp`)).json().error, 'invalid_target')
  })

  test('is the form that was sent, where the operator registered several', async () => {
    const registered = `${resource},${sent}`
    const env = { ...ownConsentPage, AUTH_OAUTH_SERVER_RESOURCES: registered }
    const { app } = await serverFor(env)
    const [client, user] = [await createClient(app), await signUpUser(app)]
    const grant = { resource: sent }
    const tokens = await signInClient(app, client, user, grant)
    assert.deepEqual(audience(tokens.access_token), [sent, 'authenticated'])
    const refreshed = await refreshTokens(app, client, tokens.refresh_token, grant)
    assert.deepEqual(audience(refreshed.json().access_token), [sent, 'authenticated'])
  })

  test('can be sent several times in a form', async () => {
    const app = await server()
    const [client, user] = [await createClient(app), await signUpUser(app)]
    const pushed = (await push(app, client, sent, other)).json()
    const { client_id } = client
    const started = await requestAuthorization(app, { client_id, request_uri: pushed.request_uri })
    const url = new URL(String(started.headers.location))
    const path = `/oauth/authorizations/${url.searchParams.get('authorization_id')}`
    const details = await call(app, path, undefined, { token: user.access_token })
    assert.deepEqual(details.json().resources, [resource, other])
  })

  test('does not hide from a client that its refresh token is refused', async () => {
    const app = await server()
    const [client, user] = [await createClient(app), await signUpUser(app)]
    const error = async (token: string, fields: object) =>
      (await refreshTokens(app, client, token, { ...fields })).json().error
    const excess = [{ resource: other }, { scope: 'phone' }, { resource: sent }]
    for (const fields of excess) {
      assert.equal(await error('unknown', fields), 'invalid_grant')
      const revoked = await signInClient(app, client, user, { resource })
      await postForm(app, '/oauth/revoke', { token: revoked.refresh_token }, basic(client))
      assert.equal(await error(revoked.refresh_token, fields), 'invalid_grant')
      const used = await signInClient(app, client, user, { resource })
      const next = (await refreshTokens(app, client, used.refresh_token)).json().refresh_token
      await refreshTokens(app, client, next)
      assert.equal(await error(used.refresh_token, fields), 'invalid_grant')
    }
  })

  test('is refused while the refresh token stays usable', async () => {
    const app = await server()
    const [client, user] = [await createClient(app), await signUpUser(app)]
    const { refresh_token } = await signInClient(app, client, user, { resource })
    const refused = await refreshTokens(app, client, refresh_token, { resource: other })
    assert.equal(refused.json().error, 'invalid_target')
    assert.equal((await refreshTokens(app, client, refresh_token)).statusCode, 200)
  })

  test('lets a resource server of the same address introspect a token', async () => {
    const app = await server()
    const api = await createClient(app, { resources: [sent] })
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app), { resource })
    const token = tokens.access_token
    const response = await postForm(app, '/oauth/introspect', { token }, basic(api))
    assert.equal(response.json().active, true)
  })
})

function push(app: App, client: OauthClient, ...resources: string[]) {
  const fields: [string, string][] = [
    ['redirect_uri', callbackUrl],
    ['response_type', 'code'],
    ['code_challenge', makePkce().challenge],
    ['code_challenge_method', 'S256'],
    ...resources.map((each): [string, string] => ['resource', each]),
  ]
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(client) }
  const payload = new URLSearchParams(fields).toString()
  return app.inject({ method: 'POST', url: '/oauth/par', headers, payload })
}
