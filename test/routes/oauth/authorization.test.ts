/** The JSON interface for a consent page of the operator. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  answerAuthorization,
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

suite('/oauth/authorizations/{id}', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('shows what the client requests, and sends the code to the redirect URI', async () => {
    const app = await server()
    const client = await createClient(app, { client_uri: 'https://app.example' })
    const user = await signUpUser(app)
    const { challenge } = makePkce()
    const id = await startAuthorization(app, client, {
      scope: 'openid email',
      state: 'a b&c',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const { access_token: token } = user
    const details = (await call(app, `/oauth/authorizations/${id}`, undefined, { token })).json()
    assert.deepEqual(details, {
      authorization_id: id,
      redirect_uri: callbackUrl,
      client: { id: client.client_id, name: 'App', uri: 'https://app.example' },
      user: { id: user.user.id, email: user.email },
      scope: 'openid email',
      data_access: true,
    })
    const answered = await answerAuthorization(app, id, user)
    assert.equal(answered.get('state'), 'a b&c')
    assert.equal(answered.get('iss'), app.jwt.issuer)
    assert.match(answered.get('code') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('approves a request without a page when the user granted it before', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    await signInClient(app, client, user, { scope: 'openid email' })
    const { challenge } = makePkce()
    const again = { scope: 'email', code_challenge: challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, again)
    const { access_token: token } = user
    const details = (await call(app, `/oauth/authorizations/${id}`, undefined, { token })).json()
    assert.deepEqual(Object.keys(details), ['redirect_url'])
    const more = await startAuthorization(app, client, { ...again, scope: 'email phone' })
    const asked = (await call(app, `/oauth/authorizations/${more}`, undefined, { token })).json()
    assert.equal(asked.scope, 'email phone')
  })

  test('asks again where any program of the device could be the client (RFC 8252 §8.6)', async () => {
    const app = await server()
    for (const [redirectUri, isAsked] of [
      ['com.example.app:/callback', true],
      ['http://127.0.0.1/callback', true],
      [callbackUrl, false],
    ] as const) {
      const client = await createClient(app, {
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
      })
      const user = await signUpUser(app)
      await signInClient(app, client, user, { scope: 'email' })
      const { challenge } = makePkce()
      const again = { scope: 'email', code_challenge: challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, again)
      const { access_token: token } = user
      const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      assert.equal('scope' in details.json(), isAsked, redirectUri)
    }
  })

  test('answers a second read or approval with the same code, until it is exchanged', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    await signInClient(app, client, user, { scope: 'email' })
    const { verifier, challenge } = makePkce()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, { ...pkce, scope: 'email' })
    const path = `/oauth/authorizations/${id}`
    const { access_token: token } = user
    const read = () => call(app, path, undefined, { token })
    const [first, second] = await Promise.all([read(), read()])
    assert.deepEqual(Object.keys(first.json()), ['redirect_url'])
    assert.deepEqual(second.json(), first.json())
    const approved = await call(app, `${path}/consent`, { action: 'approve' }, { token })
    assert.deepEqual(approved.json(), first.json())
    const denied = await call(app, `${path}/consent`, { action: 'deny' }, { token })
    assert.deepEqual(statusAndCode(denied), [400, 'validation_failed'])
    const elsewhere = await signedIn(app, user.email)
    const copied = await call(app, path, undefined, { token: elsewhere.access_token })
    assert.deepEqual(statusAndCode(copied), [400, 'validation_failed'], 'another session')
    const code = new URL(first.json().redirect_url).searchParams.get('code') ?? ''
    const tokens = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(tokens.statusCode, 200, tokens.body)
    assert.deepEqual(statusAndCode(await read()), [400, 'validation_failed'])
  })

  test('redirects with access_denied when the user denies', async () => {
    const app = await server()
    const client = await createClient(app)
    const { challenge } = makePkce()
    const id = await startAuthorization(app, client, {
      state: 's',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const answered = await answerAuthorization(app, id, await signUpUser(app), 'deny')
    assert.equal(answered.get('error'), 'access_denied')
    assert.equal(answered.get('state'), 's')
    assert.equal(answered.get('iss'), app.jwt.issuer)
  })

  test('binds a request to the first user who reads it', async () => {
    const app = await server()
    const client = await createClient(app)
    const { challenge } = makePkce()
    const id = await startAuthorization(app, client, { code_challenge: challenge })
    const [first, second] = [await signUpUser(app), await signUpUser(app)]
    const read = (token: string) => call(app, `/oauth/authorizations/${id}`, undefined, { token })
    assert.equal((await read(first.access_token)).statusCode, 200)
    assert.deepEqual(statusAndCode(await read(second.access_token)), [
      404,
      'oauth_authorization_not_found',
    ])
  })

  test('rejects a decision on a request that the user has not read', async () => {
    const app = await server()
    const client = await createClient(app)
    const { challenge } = makePkce()
    const id = await startAuthorization(app, client, { code_challenge: challenge })
    const { access_token: token } = await signUpUser(app)
    const consent = { action: 'approve' }
    const response = await call(app, `/oauth/authorizations/${id}/consent`, consent, { token })
    assert.deepEqual(statusAndCode(response), [404, 'oauth_authorization_not_found'])
  })
})
