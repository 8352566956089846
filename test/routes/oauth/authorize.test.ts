/** Requests that the authorization endpoint accepts and rejects. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  answerAuthorization,
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
import { statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const resource = 'https://mcp.example/api'

suite('/oauth/authorize', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app
  const errorIn = (location: unknown) => new URL(String(location)).searchParams.get('error')

  async function rejection(app: App, parameters: Record<string, string>) {
    const client = await createClient(app)
    const { challenge } = makePkce()
    const response = await requestAuthorization(app, {
      client_id: client.client_id,
      redirect_uri: callbackUrl,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 's',
      ...parameters,
    })
    assert.equal(response.statusCode, 302, response.body)
    const { searchParams } = new URL(String(response.headers.location))
    assert.equal(searchParams.get('iss'), app.jwt.issuer)
    assert.equal(searchParams.get('state'), 's')
    return searchParams.get('error')
  }

  const rejected: [string, Record<string, string>, string][] = [
    ['no response type', { response_type: '' }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['another response mode', { response_mode: 'web_message' }, 'invalid_request'],
    ['an unknown scope', { scope: 'openid admin' }, 'invalid_scope'],
    ['a request object', { request: 'x' }, 'request_not_supported'],
    ['a foreign request_uri', { request_uri: 'https://x.example' }, 'request_uri_not_supported'],
    ['a resource that is not registered', { resource: 'https://x.example/' }, 'invalid_target'],
    ['a resource with a fragment', { resource: `${resource}#x` }, 'invalid_target'],
    ['an unknown challenge method', { code_challenge_method: 'S512' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'x' }, 'invalid_request'],
    ['no challenge', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['a long state', { nonce: 'x'.repeat(256) }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'x' }, 'invalid_request'],
    ['prompt=none with another value', { prompt: 'none login' }, 'invalid_request'],
    ['a max_age that is not a number', { max_age: '-1' }, 'invalid_request'],
    ['claims that are not JSON', { claims: '{' }, 'invalid_request'],
  ]
  for (const [name, parameters, error] of rejected) {
    test(`redirects with ${error} for ${name}`, async () => {
      assert.equal(await rejection(await server(), parameters), error)
    })
  }

  test('redirects to the consent page of the site with the id of the request', async () => {
    const app = await server()
    const client = await createClient(app)
    const { challenge } = makePkce()
    const response = await requestAuthorization(app, {
      client_id: client.client_id,
      redirect_uri: callbackUrl,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    assert.equal(response.statusCode, 302)
    const location = new URL(String(response.headers.location))
    assert.equal(
      `${location.origin}${location.pathname}`,
      `${app.config.AUTH_SITE_URL}/oauth/consent`,
    )
    assert.match(location.searchParams.get('authorization_id') ?? '', /^[a-z2-7]{32}$/)
  })

  test('rejects a repeated parameter with invalid_request', async () => {
    const app = await server()
    const client = await createClient(app)
    const query = `client_id=${client.client_id}&redirect_uri=${encodeURIComponent(callbackUrl)}`
    const response = await app.inject(`/oauth/authorize?${query}&scope=openid&scope=email`)
    assert.equal(errorIn(response.headers.location), 'invalid_request')
  })

  test('accepts an authorization request by POST', async () => {
    const app = await server()
    const client = await createClient(app)
    const response = await postForm(app, '/oauth/authorize', {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: callbackUrl,
      code_challenge: makePkce().challenge,
      code_challenge_method: 'S256',
    })
    assert.equal(response.statusCode, 303)
    assert.match(String(response.headers.location), /authorization_id=/)
  })

  test('accepts a confidential client without PKCE when require_pkce is false', async () => {
    const app = await server()
    const client = await createClient(app, { require_pkce: false })
    const user = await signUpUser(app)
    const id = await startAuthorization(app, client)
    const code = (await answerAuthorization(app, id, user)).get('code') ?? ''
    const downgraded = await exchangeCode(app, client, code, { code_verifier: 'x'.repeat(43) })
    assert.equal(downgraded.json().error, 'invalid_grant')
    assert.equal((await exchangeCode(app, client, code)).statusCode, 200)
  })

  test('matches a loopback redirect URI on any port', async () => {
    const app = await server()
    const client = await createClient(app, {
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/cb'],
    })
    const { challenge } = makePkce()
    const send = (redirect_uri: string) =>
      requestAuthorization(app, {
        client_id: client.client_id,
        redirect_uri,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
    assert.equal((await send('http://127.0.0.1:51004/cb')).statusCode, 302)
    for (const uri of [
      'http://127.0.0.1:51004/other',
      'http://127.0.0.1.evil.example/cb',
      'http://127.0.0.1:80@evil.example/cb',
      'http://127.0.0.1:99999/cb',
      'http://[::1]:51004/cb',
      'https://127.0.0.1/cb',
    ]) {
      assert.equal((await send(uri)).statusCode, 400, uri)
    }
  })

  test('keeps the query of a registered redirect URI unchanged', async () => {
    const app = await server()
    const uri = 'https://app.example/cb?b=2&a=%7e'
    const client = await createClient(app, { redirect_uris: [uri] })
    const response = await requestAuthorization(app, {
      client_id: client.client_id,
      redirect_uri: uri,
      state: 's',
    })
    assert.ok(String(response.headers.location).startsWith(`${uri}&error=`))
  })

  test('encodes a redirect URI that a header cannot contain', async () => {
    const app = await server()
    const encoded = {
      'https://bücher.example/日本?ä=1':
        'https://xn--bcher-kva.example/%E6%97%A5%E6%9C%AC?%C3%A4=1',
      'com.app://host/é': 'com.app://host/%C3%A9',
    }
    for (const [uri, target] of Object.entries(encoded)) {
      const { client_id } = await createClient(app, { redirect_uris: [uri] })
      const response = await requestAuthorization(app, { client_id, redirect_uri: uri, scope: 'x' })
      assert.equal(response.statusCode, 302, response.body)
      const location = String(response.headers.location)
      assert.ok(location.startsWith(target), location)
      assert.equal(new URL(location).searchParams.get('error'), 'invalid_scope')
    }
  })

  test('does not redirect for an unknown client_id', async () => {
    const app = await server()
    const unknown = { client_id: crypto.randomUUID(), redirect_uri: 'https://evil.example' }
    const response = await requestAuthorization(app, unknown)
    assert.deepEqual(statusAndCode(response), [400, 'oauth_client_not_found'])
    assert.equal(response.headers.location, undefined)
  })

  test('sends iss when the user approves and when the user denies', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    for (const action of ['approve', 'deny'] as const) {
      const id = await startAuthorization(app, client, { ...pkce, prompt: 'consent' })
      const answered = await answerAuthorization(app, id, user, action)
      assert.equal(answered.get('iss'), app.jwt.issuer)
    }
  })
})
