/** oauth4webapi as a relying party: it validates every response by its RFC. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { exportJWK } from 'jose'
import * as oauth from 'oauth4webapi'

import { createClient, oauthServer } from '../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../support/page-browser.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { type App, build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'

const redirectUri = 'https://rp.example/callback'
const insecure = { [oauth.allowInsecureRequests]: true }
const scope = 'openid email offline_access'

/** A client in the form of the library. */
interface Rp {
  client: oauth.Client
  auth: oauth.ClientAuth
}

suite('oauth4webapi', () => {
  const ending = endingOfSuite()
  let app: App
  let server: oauth.AuthorizationServer
  before(async () => {
    const port = await freePort()
    const issuer = new URL(`http://127.0.0.1:${port}`)
    app = (await build(ending, { env: { ...oauthServer, AUTH_API_EXTERNAL_URL: issuer.origin } }))
      .app
    await app.listen({ host: '127.0.0.1', port })
    const response = await oauth.discoveryRequest(issuer, insecure)
    server = await oauth.processDiscoveryResponse(issuer, response)
  })

  async function withSecret(): Promise<Rp> {
    const made = await createClient(app, { redirect_uris: [redirectUri] })
    return {
      client: { client_id: made.client_id },
      auth: oauth.ClientSecretBasic(made.client_secret ?? ''),
    }
  }

  /** RFC 7523 §2.2. */
  async function withPrivateKey(): Promise<Rp> {
    const { publicKey, privateKey } = await oauth.generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k1' }
    const made = await createClient(app, {
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    })
    return {
      client: { client_id: made.client_id },
      auth: oauth.PrivateKeyJwt({ key: privateKey, kid: 'k1' }),
    }
  }

  /** Where the browser is sent after the user signed in and approved. */
  async function authorize(url: string) {
    const { email, user } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open(url)
    const consent = await browser.submit(page, { email, password, action: 'password' })
    const done = await browser.submit(consent, { action: 'approve' })
    return { url: new URL(refreshIn(done.html) ?? ''), user }
  }

  async function signIn({ client, auth }: Rp) {
    const verifier = oauth.generateRandomCodeVerifier()
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
    const pushed = await oauth.pushedAuthorizationRequest(
      server,
      client,
      auth,
      new URLSearchParams({
        redirect_uri: redirectUri,
        response_type: 'code',
        scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
      insecure,
    )
    const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, pushed)
    const query = new URLSearchParams({ client_id: client.client_id, request_uri })
    const { url, user } = await authorize(`${server.authorization_endpoint}?${query}`)
    const callback = oauth.validateAuthResponse(server, client, url, state)
    const exchange = () =>
      oauth.authorizationCodeGrantRequest(
        server,
        client,
        auth,
        callback,
        redirectUri,
        verifier,
        insecure,
      )
    const response = await exchange()
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    await oauth.validateApplicationLevelSignature(server, response, insecure)
    return { tokens, user, exchange }
  }

  for (const [name, make] of [
    ['client_secret_basic', withSecret],
    ['private_key_jwt', withPrivateKey],
  ] as const) {
    test(`accepts the responses to a client with ${name}: code, refresh, userinfo, introspection, revocation`, async () => {
      const rp = await make()
      const { client, auth } = rp
      const { tokens, user } = await signIn(rp)
      assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, user.id)

      const info = await oauth.userInfoRequest(server, client, tokens.access_token, insecure)
      const claims = await oauth.processUserInfoResponse(server, client, user.id, info)
      assert.equal(claims.email, user.email)

      const refresh = tokens.refresh_token ?? ''
      const next = await oauth.refreshTokenGrantRequest(server, client, auth, refresh, insecure)
      const refreshed = await oauth.processRefreshTokenResponse(server, client, next)

      const token = refreshed.access_token
      const shown = await oauth.introspectionRequest(server, client, auth, token, insecure)
      const found = await oauth.processIntrospectionResponse(server, client, shown)
      assert.equal(found.active, true)

      const revoked = await oauth.revocationRequest(server, client, auth, token, insecure)
      assert.equal(await oauth.processRevocationResponse(revoked), undefined)
    })
  }

  test('reads invalid_grant for a code that is used twice', async () => {
    const rp = await withSecret()
    const { exchange } = await signIn(rp)
    const again = exchange().then((response) =>
      oauth.processAuthorizationCodeResponse(server, rp.client, response),
    )
    await assert.rejects(again, { error: 'invalid_grant', status: 400 })
  })

  test('reads invalid_client with a challenge for a wrong secret', async () => {
    const { client } = await withSecret()
    const auth = oauth.ClientSecretBasic('wrong')
    const asked = oauth.refreshTokenGrantRequest(server, client, auth, 'x', insecure)
    const read = asked.then((response) =>
      oauth.processRefreshTokenResponse(server, client, response),
    )
    await assert.rejects(read, oauth.WWWAuthenticateChallengeError)
  })

  test('reads the error of a request without PKCE by its redirect', async () => {
    const { client } = await withSecret()
    const state = oauth.generateRandomState()
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
    })
    const response = await app.inject(`/oauth/authorize?${query}`)
    const url = new URL(String(response.headers.location))
    assert.throws(() => oauth.validateAuthResponse(server, client, url, state), {
      error: 'invalid_request',
    })
  })
})
