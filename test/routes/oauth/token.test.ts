/** The token endpoint: codes, refresh tokens and client authentication. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'

import {
  basic,
  callbackUrl,
  createClient,
  decodeClaims,
  exchangeCode,
  obtainCode,
  ownConsentPage,
  postForm,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const resource = 'https://mcp.example/api'

suite('POST /oauth/token', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('exchanges a code for an access token and a verifiable ID token', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const tokens = await signInClient(app, client, user, {
      scope: 'openid email profile',
      nonce: 'n',
    })
    assert.equal(tokens.token_type, 'bearer')
    assert.equal(tokens.scope, 'openid email profile')
    const access = decodeClaims(tokens.access_token)
    assert.equal(access.client_id, client.client_id)
    assert.equal(access.scope, 'openid email profile')
    assert.equal(access.aud, 'authenticated')
    assert.equal(access.role, 'authenticated')
    assert.equal(access.sub, user.user.id)
    const keys = createLocalJWKSet((await app.inject('/.well-known/jwks.json')).json())
    const { payload } = await jwtVerify(tokens.id_token ?? '', keys, {
      issuer: app.jwt.issuer,
      audience: client.client_id,
    })
    assert.equal(payload.sub, user.user.id)
    assert.equal(payload.nonce, 'n')
    assert.equal(payload.email, user.email)
    assert.equal(payload.email_verified, false, 'autoconfirmed')
    assert.equal(payload.exp, (payload.iat ?? 0) + 3600)
  })

  test('sets auth_time to the sign-in of the user, not to the exchange', async (t) => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 300_000 })
    const tokens = await signInClient(app, client, user, { scope: 'openid' })
    const { auth_time: authTime, iat } = decodeClaims(tokens.id_token ?? '')
    assert.ok(Number(iat) - Number(authTime) >= 299)
    assert.equal(authTime, decodeClaims(user.access_token).iat)
  })

  test('sends Cache-Control: no-store with tokens', async () => {
    const app = await server()
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const response = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(response.headers['cache-control'], 'no-store')
  })

  test('keeps a code valid for its client after failed attempts', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const failed = [
      await exchangeCode(app, client, code, {}),
      await exchangeCode(app, client, code, { code_verifier: 'x'.repeat(43) }),
      await exchangeCode(app, client, code, {
        code_verifier: verifier,
        redirect_uri: 'https://x.example',
      }),
      await exchangeCode(app, other, code, { code_verifier: verifier }),
    ]
    const errors = failed.map((response) => response.json().error)
    assert.deepEqual(errors, ['invalid_grant', 'invalid_grant', 'invalid_grant', 'invalid_grant'])
    const response = await exchangeCode(app, client, code, {
      code_verifier: verifier,
      redirect_uri: callbackUrl,
    })
    assert.equal(response.statusCode, 200, response.body)
  })

  test('rejects a code 61 seconds after its approval', async (t) => {
    const app = await server()
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 })
    const response = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(response.json().error, 'invalid_grant')
  })

  test('rotates the refresh token, for its own client only', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const user = await signUpUser(app)
    const tokens = await signInClient(app, client, user, { scope: 'openid email' })
    const foreign = await refreshTokens(app, other, tokens.refresh_token)
    assert.deepEqual([foreign.statusCode, foreign.json().error], [400, 'invalid_grant'])
    const own = await call(app, '/token?grant_type=refresh_token', {
      refresh_token: tokens.refresh_token,
    })
    assert.equal(own.json().error, 'invalid_client')
    const mine = await refreshTokens(app, client, user.refresh_token)
    assert.equal(mine.json().error, 'invalid_grant')
    const response = await refreshTokens(app, client, tokens.refresh_token)
    assert.equal(response.statusCode, 200, response.body)
    const refreshed = response.json()
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token)
    const claims = decodeClaims(refreshed.access_token)
    assert.equal(claims.client_id, client.client_id)
    assert.equal(claims.scope, 'openid email')
    assert.equal(refreshed.user, undefined)
  })

  test('rejects wrong Basic credentials with 401 and WWW-Authenticate', async () => {
    const app = await server()
    const client = await createClient(app)
    const wrong = { ...client, client_secret: 'wrong' }
    const form = { grant_type: 'authorization_code', code: 'x' }
    const response = await postForm(app, '/oauth/token', form, basic(wrong))
    assert.equal(response.statusCode, 401)
    assert.match(String(response.headers['www-authenticate']), /^Basic /)
    const { code, error_code, error } = response.json()
    assert.deepEqual([code, error_code, error], [401, 'invalid_credentials', 'invalid_client'])
  })

  test('puts a registered resource into aud and keeps it through a refresh', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const client = await createClient(app, { resources: [resource, 'https://b.example'] })
    const tokens = await signInClient(app, client, user, { resource })
    assert.deepEqual(decodeClaims(tokens.access_token).aud, [resource, 'authenticated'])
    const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
    assert.deepEqual(decodeClaims(refreshed.access_token).aud, [resource, 'authenticated'])
    const other = { resource: 'https://b.example' }
    const widened = await refreshTokens(app, client, refreshed.refresh_token, other)
    assert.equal(widened.json().error, 'invalid_target')
    const alone = await createClient(app, {
      resources: [resource],
      include_default_audience: false,
    })
    const { access_token } = await signInClient(app, alone, user, { resource })
    assert.equal(decodeClaims(access_token).aud, resource)
  })

  test('narrows the scope at a refresh and never widens it', async () => {
    const app = await server()
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app), { scope: 'openid email' })
    const more = await refreshTokens(app, client, tokens.refresh_token, { scope: 'openid phone' })
    assert.equal(more.json().error, 'invalid_scope')
    const less = await refreshTokens(app, client, tokens.refresh_token, { scope: 'openid' })
    assert.equal(less.json().scope, 'openid')
    assert.equal(decodeClaims(less.json().access_token).scope, 'openid')
  })

  test('accepts a private_key_jwt assertion once', async () => {
    const app = await server()
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const client = await createClient(app, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k' }] },
    })
    assert.equal(client.client_secret, undefined)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const sign = (audience: string) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuer(client.client_id)
        .setSubject(client.client_id)
        .setAudience(audience)
        .setJti(crypto.randomUUID())
        .setExpirationTime('1m')
        .sign(privateKey)
    const post = (client_assertion: string) =>
      postForm(app, '/oauth/token', {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion,
      })
    assert.equal((await post(await sign('https://other.example'))).json().error, 'invalid_client')
    const assertion = await sign(app.jwt.issuer)
    const response = await post(assertion)
    assert.equal(response.statusCode, 200, response.body)
    const replayed = await post(assertion)
    assert.deepEqual([replayed.statusCode, replayed.json().error], [401, 'invalid_client'])
  })

  test('signs ID tokens with RS256 when access tokens are signed with HS256', async () => {
    const { app } = await serverFor({ ...ownConsentPage, AUTH_JWT_ALGORITHM: 'HS256' })
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app), { scope: 'openid' })
    const header = (token = '') =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
    assert.equal(header(tokens.access_token).alg, 'HS256')
    const { alg, kid } = header(tokens.id_token)
    assert.equal(alg, 'RS256')
    const { keys } = (await app.inject('/.well-known/jwks.json')).json()
    assert.ok(keys.some((key: { kid: string }) => key.kid === kid))
    const metadata = (await app.inject('/.well-known/openid-configuration')).json()
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['RS256'])
  })
})
