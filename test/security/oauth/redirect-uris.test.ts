/** Redirect URIs that resemble a registered one (RFC 9700 §4.1, §4.11). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  callbackUrl,
  createClient,
  makePkce,
  ownConsentPage,
  requestAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

const registered = 'https://app.example/callback?tenant=1'

/** Addresses that other servers have mistaken for a registered one (RFC 9700 §4.1, §4.11). */
const variations = [
  'https://app.example/callback',
  'https://app.example/callback?tenant=1&x=2',
  'https://app.example/callback?tenant=2',
  'https://app.example/callback?tenant=1#',
  'https://app.example/callback?tenant=1#x',
  'https://app.example/callback/?tenant=1',
  'https://app.example/callback/../callback?tenant=1',
  'https://app.example/callback/..?tenant=1',
  'https://app.example/./callback?tenant=1',
  'https://app.example//callback?tenant=1',
  'https://app.example/callback%2f..?tenant=1',
  'https://app.example/%63allback?tenant=1',
  'https://app.example/callback;x?tenant=1',
  'https://app.example/callback%00?tenant=1',
  'https://app.example/callback%0d%0aX: y?tenant=1',
  'https://app.example/Callback?tenant=1',
  'https://APP.example/callback?tenant=1',
  'HTTPS://app.example/callback?tenant=1',
  'http://app.example/callback?tenant=1',
  'https://app.example:443/callback?tenant=1',
  'https://app.example:8443/callback?tenant=1',
  'https://app.example./callback?tenant=1',
  'https://www.app.example/callback?tenant=1',
  'https://app.example.evil.example/callback?tenant=1',
  'https://evil.example/app.example/callback?tenant=1',
  'https://evil.example?https://app.example/callback?tenant=1',
  'https://evil.example#https://app.example/callback?tenant=1',
  'https://evil.example\\@app.example/callback?tenant=1',
  'https://app.example\\.evil.example/callback?tenant=1',
  'https://app.example@evil.example/callback?tenant=1',
  'https://user@app.example/callback?tenant=1',
  'https://user:pass@app.example/callback?tenant=1',
  'https://app.example%40evil.example/callback?tenant=1',
  'https://app.example%2eevil.example/callback?tenant=1',
  'https://app.example%09/callback?tenant=1',
  'https://аpp.example/callback?tenant=1',
  'https://ａpp.example/callback?tenant=1',
  'https://app。example/callback?tenant=1',
  'https:app.example/callback?tenant=1',
  'https:/app.example/callback?tenant=1',
  'https:///app.example/callback?tenant=1',
  'https:\\\\app.example/callback?tenant=1',
  '//app.example/callback?tenant=1',
  '/callback?tenant=1',
  'callback?tenant=1',
  'javascript:alert(1)',
  'javascript://app.example/callback?tenant=1',
  'data:text/html,x',
  'file:///callback?tenant=1',
  'myapp://callback?tenant=1',
  'blob:https://app.example/callback?tenant=1',
  'view-source:https://app.example/callback?tenant=1',
  ' https://app.example/callback?tenant=1',
  'https://app.example/callback?tenant=1 ',
  'https://app.example/callback?tenant=1\t',
  'https://app.example/callback?tenant=1\n',
  'https://app.example/callback?tenant=1,https://evil.example',
  'https://app.example/callback?tenant=1 https://evil.example',
  'https://app.example/*',
  '*',
  'null',
  'https://127.0.0.1/callback?tenant=1',
]

suite('redirect URI validation', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('rejects more than 60 variations of a registered redirect URI', async () => {
    const app = await server()
    const client = await createClient(app, { redirect_uris: [registered] })
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const send = (redirect_uri: string) =>
      requestAuthorization(app, { client_id: client.client_id, redirect_uri, ...pkce })
    assert.ok(variations.length >= 60)
    for (const uri of variations) {
      const response = await send(uri)
      assert.equal(response.statusCode, 400, uri)
      assert.equal(response.headers.location, undefined, uri)
    }
    assert.equal((await send(registered)).statusCode, 302)
  })

  test('rejects a redirect URI that only begins with a registered one', async () => {
    const app = await server()
    const client = await createClient(app)
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const fields = { client_id: client.client_id, redirect_uri: `${callbackUrl}x`, ...pkce }
    assert.equal((await requestAuthorization(app, fields)).statusCode, 400)
  })
})
