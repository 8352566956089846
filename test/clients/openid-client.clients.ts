/** openid-client as a relying party: discovery, code flow with PKCE and nonce, refresh, userinfo, introspection, revocation, devices. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import * as client from 'openid-client'

import { createClient, oauthServer } from '../support/oauth-server.ts'
import { openBrowser, refreshIn, titleIn } from '../support/page-browser.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { type App, build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'

const redirectUri = 'https://rp.example/callback'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

suite('openid-client', () => {
  const ending = endingOfSuite()
  let app: App
  let issuer: URL
  before(async () => {
    const port = await freePort()
    issuer = new URL(`http://127.0.0.1:${port}`)
    const env = { ...oauthServer, AUTH_API_EXTERNAL_URL: issuer.origin }
    app = (
      await build(ending, { env: { ...env, AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true' } })
    ).app
    await app.listen({ host: '127.0.0.1', port })
  })
  const insecure = { execute: [client.allowInsecureRequests] }

  async function discover(fields: object = {}, auth?: (secret: string) => client.ClientAuth) {
    const made = await createClient(app, { redirect_uris: [redirectUri], ...fields })
    const secret = made.client_secret ?? ''
    const how = made.client_secret ? (auth ?? client.ClientSecretBasic)(secret) : client.None()
    return client.discovery(new URL(issuer.origin), made.client_id, secret, how, insecure)
  }

  /** The address that the browser ends at. */
  async function authorize(config: client.Configuration, parameters: Record<string, string>) {
    const { email, user } = await signUpUser(app)
    const browser = openBrowser(app)
    const url = client.buildAuthorizationUrl(config, { redirect_uri: redirectUri, ...parameters })
    const page = await browser.open(url.href)
    const consent = await browser.submit(page, { email, password, action: 'password' })
    const done = await browser.submit(consent, { action: 'approve' })
    return { url: new URL(refreshIn(done.html) ?? ''), user }
  }

  for (const [name, auth] of [
    ['client_secret_basic', client.ClientSecretBasic],
    ['client_secret_post', client.ClientSecretPost],
  ] as const) {
    test(`signs a user in with ${name}, and reads, refreshes, introspects and revokes`, async () => {
      const config = await discover({ token_endpoint_auth_method: name }, auth)
      const verifier = client.randomPKCECodeVerifier()
      const [nonce, state] = [client.randomNonce(), client.randomState()]
      const { url, user } = await authorize(config, {
        scope: 'openid email',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        nonce,
        state,
        max_age: '600',
      })
      const tokens = await client.authorizationCodeGrant(config, url, {
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        expectedState: state,
        maxAge: 600,
        idTokenExpected: true,
      })
      assert.equal(tokens.claims()?.sub, user.id)
      const info = await client.fetchUserInfo(config, tokens.access_token, user.id)
      assert.equal(info.email, user.email)
      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
      assert.ok(refreshed.access_token)
      const shown = await client.tokenIntrospection(config, refreshed.access_token)
      assert.equal(shown.active, true)
      await client.tokenRevocation(config, refreshed.access_token)
      const after = await client.tokenIntrospection(config, refreshed.access_token)
      assert.equal(after.active, false)
    })
  }

  test('signs a user in through a pushed request', async () => {
    const config = await discover()
    const verifier = client.randomPKCECodeVerifier()
    const url = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: redirectUri,
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open(url.href)
    const consent = await browser.submit(page, { email, password, action: 'password' })
    const done = await browser.submit(consent, { action: 'approve' })
    const target = new URL(refreshIn(done.html) ?? '')
    const tokens = await client.authorizationCodeGrant(config, target, {
      pkceCodeVerifier: verifier,
    })
    assert.ok(tokens.id_token)
  })

  test('rejects a response of another issuer', async () => {
    const config = await discover()
    const verifier = client.randomPKCECodeVerifier()
    const { url } = await authorize(config, {
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    url.searchParams.set('iss', 'https://evil.example')
    await assert.rejects(client.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier }))
  })

  test('registers itself as a client', async () => {
    const metadata = { redirect_uris: [redirectUri], client_name: 'Self' }
    const config = await client.dynamicClientRegistration(
      new URL(issuer.origin),
      metadata,
      undefined,
      insecure,
    )
    assert.ok(config.clientMetadata().client_id)
  })

  test('signs in a device after its user approves on the page', async () => {
    const config = await discover({
      token_endpoint_auth_method: 'none',
      grant_types: [deviceGrant, 'refresh_token'],
      client_name: 'Television',
    })
    const codes = await client.initiateDeviceAuthorization(config, { scope: 'openid' })
    const { email, user } = await signUpUser(app)
    const browser = openBrowser(app)
    const signIn = await browser.open(codes.verification_uri_complete ?? '')
    const page = await browser.submit(signIn, { email, password, action: 'password' })
    const consent = await browser.submit(page, { action: 'look_up', user_code: codes.user_code })
    assert.equal(titleIn(consent), 'Television requests access to your account')
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(titleIn(done), 'Your device is connected')
    const tokens = await client.pollDeviceAuthorizationGrant(config, { ...codes, interval: 0.1 })
    assert.equal(tokens.claims()?.sub, user.id)
  })
})
