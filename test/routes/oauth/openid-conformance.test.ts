/** Requests of the plans Basic and Dynamic of the OpenID Foundation's suite (docs/oauth-conformance.md). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { exportJWK, generateKeyPair, SignJWT } from 'jose'

import { serveDocuments } from '../../support/metadata-documents.ts'
import {
  callbackUrl,
  createClient,
  decodeClaims,
  exchangeCode,
  makePkce,
  obtainCode,
  openRegistration,
  postForm,
  registerClient,
  requestAuthorization,
} from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  openBrowser,
  type PageResponse,
  refreshIn,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { password, signUpUser } from '../../support/users.ts'

type Client = Awaited<ReturnType<typeof createClient>>

suite('OpenID Connect conformance', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(openRegistration)).app

  const codeIn = (page: PageResponse) =>
    new URL(page.location ?? refreshIn(page.html) ?? '').searchParams.get('code') ?? ''

  /** Consents if the page requests it, and exchanges the code. */
  async function authorize(
    app: App,
    client: Client,
    browser: ReturnType<typeof openBrowser>,
    parameters: Record<string, string>,
  ): Promise<Record<string, unknown> & { access_token: string }> {
    const { verifier, challenge } = makePkce()
    const page = await browser.open(authorizeUrl(client, challenge, parameters))
    const isAsked = titleIn(page) === 'App requests access to your account'
    const done = isAsked ? await browser.submit(page, { action: 'approve' }) : page
    const response = await exchangeCode(app, client, codeIn(done), { code_verifier: verifier })
    assert.equal(response.statusCode, 200, JSON.stringify(parameters) + response.body)
    return { ...decodeClaims(response.json().id_token), access_token: response.json().access_token }
  }

  test('accepts display, claims_locales, ui_locales, login_hint, acr_values and unknown parameters', async () => {
    const app = await server()
    const client = await createClient(app)
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    for (const parameters of [
      { display: 'page' },
      { display: 'popup' },
      { claims_locales: 'se' },
      { ui_locales: 'se' },
      { ui_locales: 'de en' },
      { login_hint: 'buffy@auth.example' },
      { acr_values: 'aal1 aal2' },
      { acr_values: '1 2' },
      { extra: 'foobar' },
    ]) {
      assert.ok((await authorize(app, client, browser, parameters)).sub)
    }
  })

  test('shows the sign-in page with the login_hint, in the language of ui_locales', async () => {
    const app = await server()
    const client = await createClient(app)
    const hints = { login_hint: 'buffy@auth.example', ui_locales: 'de' }
    const page = await openBrowser(app).open(authorizeUrl(client, makePkce().challenge, hints))
    assert.equal(titleIn(page), 'Anmelden')
    assert.match(page.html, /value="buffy@auth\.example"/)
  })

  test('accepts scopes in any order, and a request without a nonce', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const claims = await authorize(app, client, browser, { scope: 'email openid' })
    assert.deepEqual([claims.email, claims.nonce], [email, undefined])
  })

  test('returns the claims of profile, email, phone and address', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email, user } = await signUpUser(app)
    await app.db
      .updateTable('users')
      .set({
        phone: '15550100200',
        phone_confirmed_at: new Date(),
        raw_user_meta_data: JSON.stringify({ name: 'Ann', address: { country: 'US' } }),
      })
      .where('id', '=', user.id)
      .execute()
    const browser = await signedInBrowser(app, email)
    const scope = 'openid profile email phone address'
    const { access_token } = await authorize(app, client, browser, { scope })
    const headers = { authorization: `Bearer ${access_token}` }
    const shown = (await app.inject({ url: '/oauth/userinfo', headers })).json()
    assert.deepEqual(
      [shown.name, shown.email, shown.email_verified, shown.phone_number, shown.address],
      ['Ann', email, false, '15550100200', { country: 'US' }],
    )
    assert.equal(typeof shown.updated_at, 'number')
  })

  test('returns userinfo by POST with the token in the header', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email, user } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const { access_token } = await authorize(app, client, browser, {})
    const headers = { authorization: `Bearer ${access_token}` }
    const response = await app.inject({ method: 'POST', url: '/oauth/userinfo', headers })
    assert.equal(response.json().sub, user.id)
  })

  test('returns the same sub and auth_time for prompt=none with an id_token_hint', async () => {
    const app = await server()
    const client = await createClient(app)
    const [user, other] = [await signUpUser(app), await signUpUser(app)]
    const browser = await signedInBrowser(app, user.email)
    const { verifier, challenge } = makePkce()
    const page = await browser.open(authorizeUrl(client, challenge))
    const done = await browser.submit(page, { action: 'approve' })
    const first = await exchangeCode(app, client, codeIn(done), { code_verifier: verifier })
    const hint = first.json().id_token
    const { sub, auth_time } = decodeClaims(hint)
    const silent = await authorize(app, client, browser, { prompt: 'none', id_token_hint: hint })
    assert.deepEqual({ sub: silent.sub, auth_time: silent.auth_time }, { sub, auth_time })
    const inOtherBrowser = await signedInBrowser(app, other.email)
    const asked = authorizeUrl(client, makePkce().challenge, {
      prompt: 'none',
      id_token_hint: hint,
    })
    const { location = '' } = await inOtherBrowser.open(asked)
    assert.equal(new URL(location).searchParams.get('error'), 'login_required')
  })

  test('updates auth_time with prompt=login and keeps it with max_age=10000', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const first = await authorize(app, client, browser, { max_age: '15000' })
    const second = await authorize(app, client, browser, { max_age: '10000' })
    assert.equal(second.auth_time, first.auth_time)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const { verifier, challenge } = makePkce()
    const signIn = await browser.open(authorizeUrl(client, challenge, { prompt: 'login' }))
    assert.equal(titleIn(signIn), 'Sign in')
    const done = await browser.submit(signIn, { email, password, action: 'password' })
    const code = codeIn(done)
    const tokens = (await exchangeCode(app, client, code, { code_verifier: verifier })).json()
    assert.ok(Number(decodeClaims(tokens.id_token).auth_time) > Number(first.auth_time))
  })

  test('requires a new sign-in when max_age=1 is exceeded', async () => {
    const app = await server()
    const client = await createClient(app)
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    await new Promise((resolve) => setTimeout(resolve, 2100))
    const page = await browser.open(authorizeUrl(client, makePkce().challenge, { max_age: '1' }))
    assert.equal(titleIn(page), 'Sign in')
  })

  test('rejects a code replayed after 30 seconds and revokes its access token', async (t) => {
    const { app } = await serverFor({
      ...openRegistration,
      AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    })
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const fields = { code_verifier: verifier }
    const tokens = (await exchangeCode(app, client, code, fields)).json()
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 30_000 })
    const again = await exchangeCode(app, client, code, fields)
    assert.deepEqual([again.statusCode, again.json().error], [400, 'invalid_grant'])
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    assert.equal((await app.inject({ url: '/oauth/userinfo', headers })).statusCode, 401)
  })

  test('rejects request objects by value and by reference as unsupported', async () => {
    const app = await server()
    const { client_id } = await createClient(app)
    const unsigned = 'eyJhbGciOiJub25lIn0.e30.'
    const fetchError = async (more: Record<string, string>) => {
      const response = await requestAuthorization(app, {
        client_id,
        redirect_uri: callbackUrl,
        ...more,
      })
      return new URL(String(response.headers.location)).searchParams.get('error')
    }
    assert.equal(await fetchError({ request: unsigned }), 'request_not_supported')
    const reference = { request_uri: 'https://rp.example/request.jwt' }
    assert.equal(await fetchError(reference), 'request_uri_not_supported')
    const metadata = (await app.inject('/.well-known/openid-configuration')).json()
    assert.equal(metadata.request_parameter_supported, false)
    assert.equal(metadata.request_uri_parameter_supported, false)
  })

  test('rejects a request without response_type', async () => {
    const app = await server()
    const { client_id } = await createClient(app)
    const asked = { client_id, redirect_uri: callbackUrl, response_type: '' }
    const { headers } = await requestAuthorization(app, asked)
    assert.match(String(headers.location), /error=invalid_request/)
  })

  test('rejects a request without redirect_uri', async () => {
    const app = await server()
    const redirect_uris = [callbackUrl, 'https://app.example/other']
    const { client_id } = await createClient(app, { redirect_uris })
    const response = await requestAuthorization(app, { client_id })
    assert.equal(response.statusCode, 400)
    assert.equal(response.headers.location, undefined)
  })

  test('accepts client_secret_post at the token endpoint', async () => {
    const app = await server()
    const method = { token_endpoint_auth_method: 'client_secret_post' }
    const client = await createClient(app, method)
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const { verifier, challenge } = makePkce()
    const page = await browser.open(authorizeUrl(client, challenge))
    const code = codeIn(await browser.submit(page, { action: 'approve' }))
    const { client_id, client_secret } = client
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier }
    const response = await postForm(app, '/oauth/token', { ...form, client_id, client_secret })
    assert.equal(response.statusCode, 200, response.body)
  })

  test('rejects registration of unsigned ID tokens and of a redirect URI with a fragment', async () => {
    const app = await server()
    const register = async (fields: object) => {
      const payload = { redirect_uris: [callbackUrl], ...fields }
      return (await app.inject({ method: 'POST', url: '/oauth/clients/register', payload })).json()
        .error
    }
    // ID tokens of this server are signed with ES256.
    for (const id_token_signed_response_alg of ['none', 'HS256', 'RS256']) {
      assert.equal(await register({ id_token_signed_response_alg }), 'invalid_client_metadata')
    }
    assert.equal(await register({ id_token_signed_response_alg: 'ES256' }), undefined)
    const fragment = { redirect_uris: [`${callbackUrl}#x`] }
    assert.equal(await register(fragment), 'invalid_redirect_uri')
  })

  test('shows the policy and the terms of a client on the consent page, but not its logo', async () => {
    const app = await server()
    const client = await registerClient(app, {
      policy_uri: 'https://app.example/policy',
      tos_uri: 'https://app.example/terms',
      logo_uri: 'https://app.example/logo.png',
    })
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const { html } = await browser.open(authorizeUrl(client, makePkce().challenge))
    assert.match(html, /<a href="https:\/\/app\.example\/policy"[^>]*>Privacy policy</)
    assert.match(html, /<a href="https:\/\/app\.example\/terms"[^>]*>Terms of service</)
    assert.ok(!html.includes('logo.png'))
  })

  test('fetches the keys of a client again after a rotation', async (t) => {
    const app = await server()
    const state = await serveDocuments(t, app)
    const newKey = async (kid: string) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256')
      return { privateKey, kid, jwk: { ...(await exportJWK(publicKey)), kid } }
    }
    const [first, second] = [await newKey('first'), await newKey('second')]
    const client = await registerClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://client.example/keys.json',
    })
    const introspect = async ({ privateKey, kid }: typeof first) => {
      const client_assertion = await new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer(client.client_id)
        .setSubject(client.client_id)
        .setAudience(app.jwt.issuer)
        .setJti(crypto.randomUUID())
        .setExpirationTime('1m')
        .sign(privateKey)
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      const form = { token: 'x', client_assertion, client_assertion_type }
      return (await postForm(app, '/oauth/introspect', form)).statusCode
    }
    state.document = { body: JSON.stringify({ keys: [first.jwk] }) }
    assert.equal(await introspect(first), 200)
    state.document = { body: JSON.stringify({ keys: [second.jwk] }) }
    assert.equal(await introspect(second), 200)
    assert.equal(await introspect(first), 401)
  })

  test('lists https endpoints and the signing algorithm in discovery', async () => {
    const { app } = await serverFor({
      ...openRegistration,
      AUTH_API_EXTERNAL_URL: 'https://auth.example',
      AUTH_JWT_ALGORITHM: 'RS256',
    })
    const metadata = (await app.inject('/.well-known/openid-configuration')).json()
    const endpoints = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name))
    assert.ok(endpoints.length >= 9)
    for (const [name, url] of endpoints) {
      assert.ok(String(url).startsWith('https://auth.example/'), name)
    }
    assert.deepEqual(metadata.response_types_supported, ['code'])
    assert.deepEqual(metadata.subject_types_supported, ['public'])
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['RS256'])
    assert.ok(metadata.scopes_supported.includes('openid'))
    assert.equal(metadata.claims_parameter_supported, true)
  })
})
