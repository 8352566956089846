/** Tokens of clients and tokens of users are not taken for each other. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createClient,
  decodeClaims,
  makePkce,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

suite('audience confusion', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('rejects the access token of a client at user endpoints', async () => {
    const app = await server()
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app))
    assert.deepEqual(statusAndCode(await getUser(app, tokens)), [403, 'insufficient_scope'])
    const { access_token: token } = tokens
    for (const [method, url] of [
      ['PUT', '/user'],
      ['POST', '/factors'],
      ['GET', '/user/oauth/grants'],
      ['POST', '/logout'],
    ] as const) {
      const payload = method === 'GET' ? undefined : {}
      const response = await call(app, url, payload, { method, token })
      assert.deepEqual(statusAndCode(response), [403, 'insufficient_scope'], url)
    }
  })

  test('rejects an ID token as an access token', async () => {
    const app = await server()
    const client = await createClient(app)
    const { id_token } = await signInClient(app, client, await signUpUser(app), { scope: 'openid' })
    const response = await getUser(app, { access_token: id_token ?? '' })
    assert.deepEqual(statusAndCode(response), [403, 'bad_jwt'])
  })

  test('rejects the token of a client at admin endpoints for every role', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    await app.db
      .updateTable('users')
      .set({ role: 'service_role' })
      .where('id', '=', user.user.id)
      .execute()
    const tokens = await signInClient(app, client, user)
    assert.equal(decodeClaims(tokens.access_token).role, 'service_role')
    const response = await call(app, '/admin/users', undefined, { token: tokens.access_token })
    assert.deepEqual(statusAndCode(response), [403, 'insufficient_scope'])
  })

  test('rejects the token of a client at the consent endpoints', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const tokens = await signInClient(app, client, await signUpUser(app))
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, other, pkce)
    const { access_token: token } = tokens
    const response = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
    assert.deepEqual(statusAndCode(response), [403, 'insufficient_scope'])
  })
})
