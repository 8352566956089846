/** Clients whose client_id is the URL of their metadata document, served by a real server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Document, serveDocuments } from '../../support/metadata-documents.ts'
import {
  answerAuthorization,
  createClient,
  decodeClaims,
  makePkce,
  ownConsentPage,
  postForm,
  requestAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const url = 'https://client.example/oauth/metadata.json'
const redirect_uri = 'https://client.example/callback'

const createDocument = (fields: object = {}) =>
  JSON.stringify({ client_id: url, client_name: 'Agent', redirect_uris: [redirect_uri], ...fields })

suite('client ID metadata documents', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  function send(app: App, challenge: string, more: Record<string, string> = {}) {
    return requestAuthorization(app, {
      client_id: url,
      redirect_uri,
      scope: 'openid',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    })
  }

  test('sign a user in, with the URL as client_id in both tokens', async (t) => {
    const app = await server()
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument() }
    const { verifier, challenge } = makePkce()
    const response = await send(app, challenge)
    assert.equal(response.statusCode, 302, response.body)
    const id = new URL(String(response.headers.location)).searchParams.get('authorization_id') ?? ''
    const user = await signUpUser(app)
    const code = (await answerAuthorization(app, id, user)).get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: url }
    const tokens = await postForm(app, '/oauth/token', { ...form, redirect_uri })
    assert.equal(tokens.statusCode, 200, tokens.body)
    assert.equal(decodeClaims(tokens.json().access_token).client_id, url)
    assert.equal(decodeClaims(tokens.json().id_token).aud, url)
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.json().refresh_token }
    const refreshed = await postForm(app, '/oauth/token', { ...refresh, client_id: url })
    assert.equal(decodeClaims(refreshed.json().access_token).client_id, url)
    assert.equal(state.requests, 1, 'the document is kept as long as its headers allow')
  })

  test('ask for consent again when the name or the redirect URIs changed', async (t) => {
    const app = await server()
    const state = await serveDocuments(t, app)
    const user = await signUpUser(app)
    const { access_token: token } = user
    const details = async () => {
      const response = await send(app, makePkce().challenge)
      const id =
        new URL(String(response.headers.location)).searchParams.get('authorization_id') ?? ''
      return {
        id,
        body: (await call(app, `/oauth/authorizations/${id}`, undefined, { token })).json(),
      }
    }
    const expire = () =>
      app.db
        .updateTable('postern_oauth_clients')
        .set({ document_expires_at: new Date(0) })
        .where('document_url', '=', url)
        .execute()
    await expire()
    state.document = { body: createDocument() }
    const first = await details()
    await answerAuthorization(app, first.id, user)
    assert.ok((await details()).body.redirect_url)
    await expire()
    state.document = { body: createDocument({ client_name: 'Bank' }) }
    assert.equal((await details()).body.client.name, 'Bank')
  })

  const rejected: Record<string, Document> = {
    'another client_id': {
      body: createDocument({ client_id: 'https://client.example/other.json' }),
    },
    'a body that is not JSON': { body: '<html>' },
    'a secret': { body: createDocument({ client_secret: 'x' }) },
    'a method with a secret': {
      body: createDocument({ token_endpoint_auth_method: 'client_secret_basic' }),
    },
    'too many bytes': { body: createDocument({ client_name: 'x'.repeat(6000) }) },
    'an unknown type of application': { body: createDocument({ application_type: 'fridge' }) },
    'a redirect': { status: 302, headers: { location: 'https://client.example/x' }, body: '' },
    'an error response': { status: 404, body: createDocument() },
    'a script as redirect URI': { body: createDocument({ redirect_uris: ['javascript://x/'] }) },
    'a script as logo': { body: createDocument({ logo_uri: 'javascript:alert(1)' }) },
  }
  for (const [name, document] of Object.entries(rejected)) {
    test(`are rejected with ${name}`, async (t) => {
      const app = await server()
      await app.db.deleteFrom('oauth_clients').execute()
      const state = await serveDocuments(t, app)
      state.document = document
      assert.equal((await send(app, makePkce().challenge)).statusCode, 400)
    })
  }

  test('cannot set properties that only an operator may set', async (t) => {
    const app = await server()
    await app.db.deleteFrom('oauth_clients').execute()
    const state = await serveDocuments(t, app)
    state.document = {
      body: createDocument({ resources: ['https://bank.example'], require_pkce: false }),
    }
    const response = await send(app, makePkce().challenge, { resource: 'https://bank.example' })
    assert.match(response.body, /error=invalid_target/)
  })

  test('can name the types of the application and of the client', async (t) => {
    const app = await server()
    await app.db.deleteFrom('oauth_clients').execute()
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument({ application_type: 'native', client_type: 'public' }) }
    const response = await send(app, makePkce().challenge)
    assert.equal(response.statusCode, 302, response.body)
  })

  test('are not fetched from private addresses or from URLs of another form', async () => {
    const app = await server()
    for (const client_id of [
      'https://127.0.0.1/metadata.json',
      'https://169.254.169.254/latest',
      'http://client.example/metadata.json',
      'https://client.example',
      'https://user@client.example/metadata.json',
      'https://client.example/a/../metadata.json',
      'https://client.example/metadata.json#x',
    ]) {
      const response = await requestAuthorization(app, { client_id, redirect_uri })
      assert.equal(response.statusCode, 400, client_id)
    }
  })

  test('can have their grant revoked when the document no longer exists', async (t) => {
    const app = await server()
    await app.db.deleteFrom('oauth_clients').execute()
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument() }
    const user = await signUpUser(app)
    const { access_token: token } = user
    const response = await send(app, makePkce().challenge)
    const { searchParams } = new URL(String(response.headers.location))
    await answerAuthorization(app, searchParams.get('authorization_id') ?? '', user)
    state.document = { status: 404, body: '' }
    await app.db
      .updateTable('postern_oauth_clients')
      .set({ document_expires_at: new Date(0) })
      .execute()
    const path = `/user/oauth/grants?client_id=${encodeURIComponent(url)}`
    const revoked = await call(app, path, undefined, { method: 'DELETE', token })
    assert.equal(revoked.statusCode, 204, revoked.body)
    assert.deepEqual((await call(app, '/user/oauth/grants', undefined, { token })).json(), [])
  })

  test('are rejected with a name that imitates a client of the operator', async (t) => {
    const app = await server()
    await app.db.deleteFrom('oauth_clients').execute()
    await createClient(app, { client_name: 'Payroll' })
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument({ client_name: 'PAYROLL' }) }
    const response = await send(app, makePkce().challenge)
    assert.match(response.json().msg, /another application/)
  })
})
