/** Claims by scope and by the claims parameter (OpenID Connect Core §5.4, §5.5). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  callbackUrl,
  createClient,
  decodeClaims,
  exchangeCode,
  makePkce,
  oauthServer,
  obtainCode,
  ownConsentPage,
  refreshTokens,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { authorizeUrl, refreshIn, signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const address = { street_address: 'Main Street 1', locality: 'Springfield', country: 'US' }

suite('claims of OAuth clients', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  async function userWithProfile(app: App) {
    const user = await signUpUser(app)
    const data = { name: 'Ann Lee', address, nickname: 'ann', secret: 'x' }
    assert.equal((await changeUser(app, user.access_token, { data })).statusCode, 200)
    return user
  }

  const fetchUserinfo = async (app: App, token: string) =>
    (
      await app.inject({ url: '/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
    ).json()

  test('returns the address for the scope address, with its standard members only', async () => {
    const app = await server()
    const user = await userWithProfile(app)
    const tokens = await signInClient(app, await createClient(app), user, {
      scope: 'openid address',
    })
    assert.deepEqual(await fetchUserinfo(app, tokens.access_token), { sub: user.user.id, address })
    assert.deepEqual(decodeClaims(tokens.id_token ?? '').address, address)
  })

  test('omits claims that the user does not have', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const tokens = await signInClient(app, await createClient(app), user, {
      scope: 'openid address phone',
    })
    assert.deepEqual(await fetchUserinfo(app, tokens.access_token), { sub: user.user.id })
  })

  test('returns individual claims of the claims parameter, also after a refresh', async () => {
    const app = await server()
    const user = await userWithProfile(app)
    const client = await createClient(app)
    const claims = JSON.stringify({
      userinfo: { name: { essential: true }, unknown: null },
      id_token: { email: null, nickname: null },
    })
    const tokens = await signInClient(app, client, user, { scope: 'openid', claims })
    const idToken = decodeClaims(tokens.id_token ?? '')
    assert.deepEqual([idToken.email, idToken.nickname], [user.email, 'ann'])
    assert.equal(idToken.name, undefined)
    const expected = { sub: user.user.id, name: 'Ann Lee' }
    assert.deepEqual(await fetchUserinfo(app, tokens.access_token), expected)
    const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
    assert.deepEqual(await fetchUserinfo(app, refreshed.access_token), expected)
  })

  test('does not return claims of a scope that the client may not request', async () => {
    const app = await server()
    const user = await userWithProfile(app)
    const client = await createClient(app, { scope: 'openid' })
    const claims = JSON.stringify({ userinfo: { name: null, address: null } })
    const tokens = await signInClient(app, client, user, { scope: 'openid', claims })
    assert.deepEqual(await fetchUserinfo(app, tokens.access_token), { sub: user.user.id })
  })

  test('shows requested claims to a consent page of the operator', async () => {
    const app = await server()
    const { access_token: token } = await signUpUser(app)
    const claims = JSON.stringify({ userinfo: { name: null } })
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, await createClient(app), { ...pkce, claims })
    const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
    assert.deepEqual(details.json().claims, ['name'])
  })

  test('requests consent for individual claims once', async () => {
    const { app } = await serverFor(oauthServer)
    const client = await createClient(app)
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const claims = JSON.stringify({ userinfo: { name: null } })
    const send = (more: Record<string, string>) =>
      browser.open(authorizeUrl(client, makePkce().challenge, { scope: 'openid', ...more }))
    const first = await send({})
    await browser.submit(first, { action: 'approve' })
    const more = await send({ claims })
    assert.equal(titleIn(more), 'App requests access to your account')
    assert.match(more.html, /see your name and picture/)
    await browser.submit(more, { action: 'approve' })
    const again = await send({ claims })
    assert.ok(again.location?.startsWith(callbackUrl), again.html)
  })

  test('requires the user named by the claim sub', async () => {
    const { app } = await serverFor(oauthServer)
    const client = await createClient(app)
    const [user, other] = [await signUpUser(app), await signUpUser(app)]
    const browser = await signedInBrowser(app, user.email)
    const send = (id: string) => {
      const claims = JSON.stringify({ id_token: { sub: { value: id } } })
      return browser.open(authorizeUrl(client, makePkce().challenge, { claims }))
    }
    assert.equal(titleIn(await send(other.user.id)), 'Sign in')
    const consent = await send(user.user.id)
    const done = await browser.submit(consent, { action: 'approve' })
    assert.ok(new URL(refreshIn(done.html) ?? '').searchParams.get('code'))
  })

  test('exchanges a code whose request had no claims parameter', async () => {
    const app = await server()
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const tokens = (await exchangeCode(app, client, code, { code_verifier: verifier })).json()
    assert.equal(decodeClaims(tokens.access_token).userinfo_claims, undefined)
  })
})
