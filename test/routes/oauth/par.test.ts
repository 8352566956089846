/** Pushed authorization requests (RFC 9126). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  answerAuthorization,
  basic,
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  ownConsentPage,
  postForm,
  requestAuthorization,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signUpUser } from '../../support/users.ts'

suite('POST /oauth/par', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('accepts a pushed request once, and requires one of clients with require_pushed_authorization_requests', async () => {
    const app = await server()
    const client = await createClient(app, { require_pushed_authorization_requests: true })
    const { verifier, challenge } = makePkce()
    const fields = {
      redirect_uri: callbackUrl,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid',
    }
    const bad = await postForm(app, '/oauth/par', { ...fields, scope: 'x' }, basic(client))
    assert.equal(bad.json().error, 'invalid_scope')
    const pushed = await postForm(app, '/oauth/par', fields, basic(client))
    assert.equal(pushed.statusCode, 201, pushed.body)
    const { request_uri } = pushed.json()
    const id = await startAuthorization(app, client, { request_uri, scope: 'phone' })
    const code = (await answerAuthorization(app, id, await signUpUser(app))).get('code') ?? ''
    const tokens = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(tokens.json().scope, 'openid')
    const query = { client_id: client.client_id, request_uri }
    assert.equal((await requestAuthorization(app, query)).statusCode, 400)
    const plain = { ...fields, client_id: client.client_id }
    assert.equal((await requestAuthorization(app, plain)).statusCode, 400)
  })
})
