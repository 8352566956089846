/** A metadata document is fetched for endpoints that are limited by address only (RFC 9700 §4.11, SSRF and load). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { suite, test } from 'node:test'

import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'

import { asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { serveDocuments } from '../../support/metadata-documents.ts'
import {
  answerAuthorization,
  createClient,
  makePkce,
  postForm,
  requestAuthorization,
} from '../../support/oauth-server.ts'
import { openBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const bye = 'https://client.example/bye'

suite('fetches of metadata documents', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(withConsole)).app

  const createDocument = (url: string) =>
    JSON.stringify({
      client_id: url,
      redirect_uris: ['https://client.example/callback'],
      post_logout_redirect_uris: [bye],
    })

  const isStored = async (app: App, url: string) =>
    (await app.db
      .selectFrom('postern_oauth_clients')
      .select('client_id')
      .where('document_url', '=', url)
      .executeTakeFirst()) !== undefined

  const logOut = (app: App, url: string) => {
    const query = new URLSearchParams({ client_id: url, post_logout_redirect_uri: bye })
    return openBrowser(app).open(`/oauth/logout?${query}`)
  }

  test('a logout fetches no document of an unknown client and uses that of a known client', async (t) => {
    const app = await server()
    const url = 'https://client.example/logout/metadata.json'
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument(url) }
    const page = await logOut(app, url)
    assert.equal(titleIn(page), 'You are signed out')
    assert.equal(state.requests, 0)
    assert.equal(await isStored(app, url), false)
    await requestAuthorization(app, { client_id: url, redirect_uri: 'https://client.example/x' })
    assert.equal(await isStored(app, url), true)
    assert.match((await logOut(app, url)).html, /href="https:\/\/client\.example\/bye"/)
  })

  test('assertions with unknown keys cause one more fetch of the key set', async (t) => {
    const app = await server()
    const state = await serveDocuments(t, app)
    state.document = { body: JSON.stringify({ keys: [] }) }
    const client = await createClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://client.example/unknown-keys.json',
    })
    const { privateKey } = await generateKeyPair('ES256')
    for (const kid of ['one', 'two', 'three']) {
      assert.equal(await errorWithAssertion(app, client, { kid, privateKey }), 'invalid_client')
    }
    assert.equal(state.requests, 2)
  })

  test('an unknown key during an outage of the key set keeps the known keys', async (t) => {
    const app = await server()
    const state = await serveDocuments(t, app)
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'known' }]
    state.document = { body: JSON.stringify({ keys }) }
    const client = await createClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://client.example/outage-keys.json',
    })
    const errorWith = (kid: string) => errorWithAssertion(app, client, { kid, privateKey })
    assert.equal(await errorWith('known'), 'invalid_request')
    state.document = { status: 503, body: '' }
    assert.equal(await errorWith('unknown'), 'invalid_client')
    assert.equal(state.requests, 2)
    assert.equal(await errorWith('known'), 'invalid_request')
  })

  test('an admin can revoke the grant of a client whose document no longer exists', async (t) => {
    const app = await server()
    const client_id = 'https://client.example/gone/metadata.json'
    const redirect_uri = 'https://client.example/callback'
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument(client_id) }
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const asked = await requestAuthorization(app, { client_id, redirect_uri, ...pkce })
    const query = new URL(String(asked.headers.location)).searchParams
    const session = await signUpUser(app)
    await answerAuthorization(app, query.get('authorization_id') ?? '', session)
    await app.db
      .updateTable('postern_oauth_clients')
      .set({ document_expires_at: new Date(0) })
      .where('document_url', '=', client_id)
      .execute()
    state.document = { status: 404, body: '' }
    const path = `/admin/users/${session.user.id}/grants/${encodeURIComponent(client_id)}`
    const revoked = await asAdmin(app, 'DELETE', path)
    assert.equal(revoked.statusCode, 204, revoked.body)
  })

  test('an introspection fetches no document of an unknown client', async (t) => {
    const app = await server()
    const url = 'https://client.example/introspect/metadata.json'
    const state = await serveDocuments(t, app)
    state.document = { body: createDocument(url) }
    const response = await postForm(app, '/oauth/introspect', { client_id: url, token: 'x' })
    assert.deepEqual([response.statusCode, response.json().error], [401, 'invalid_client'])
    assert.equal(state.requests, 0)
    assert.equal(await isStored(app, url), false)
  })
})

/** The error of a refresh without a token that the client signs with this key. */
async function errorWithAssertion(
  app: App,
  { client_id }: { client_id: string },
  { kid, privateKey }: { kid: string; privateKey: CryptoKey },
): Promise<string> {
  const signed = new SignJWT({ iss: client_id, sub: client_id, aud: app.jwt.issuer })
    .setJti(randomUUID())
    .setExpirationTime('1m')
  const response = await postForm(app, '/oauth/token', {
    grant_type: 'refresh_token',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signed.setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey),
  })
  return response.json().error
}
