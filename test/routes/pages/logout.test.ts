/** RP-initiated logout. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { generateKeyPair, SignJWT } from 'jose'

import { createClient, exchangeCode, makePkce, oauthServer } from '../../support/oauth-server.ts'
import { authorizeUrl, refreshIn, signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

suite('logout page', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  test('signs out after a confirmation and redirects to a registered address only', async () => {
    const app = await server()
    const uri = 'https://app.example/bye'
    const client = await createClient(app, { post_logout_redirect_uris: [uri] })
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const query = new URLSearchParams({
      client_id: client.client_id,
      post_logout_redirect_uri: uri,
      state: 'x',
    })
    const asked = await browser.open(`/oauth/logout?${query}`)
    assert.equal(titleIn(asked), 'Sign out')
    const done = await browser.submit(asked, {})
    assert.equal(refreshIn(done.html), `${uri}?state=x`)
    assert.equal(titleIn(await browser.open(authorizeUrl(client, makePkce().challenge))), 'Sign in')
    const foreign = new URLSearchParams({
      client_id: client.client_id,
      post_logout_redirect_uri: 'https://evil.example',
    })
    const stays = await browser.open(`/oauth/logout?${foreign}`)
    assert.equal(titleIn(stays), 'You are signed out')
  })

  const after = 'https://app.example/bye'

  /** A signed-in user with an ID token of the client. */
  async function signedInAt(app: App) {
    const client = await createClient(app, { post_logout_redirect_uris: [after] })
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const { verifier, challenge } = makePkce()
    const consent = await browser.open(authorizeUrl(client, challenge))
    const done = await browser.submit(consent, { action: 'approve' })
    const code = new URL(refreshIn(done.html) ?? '').searchParams.get('code') ?? ''
    const tokens = await exchangeCode(app, client, code, { code_verifier: verifier })
    const hint: string = tokens.json().id_token
    /** Confirms the logout. Returns the redirect, and whether a silent sign-in still works. */
    const logout = async (parameters: Record<string, string>) => {
      const page = await browser.open(`/oauth/logout?${new URLSearchParams(parameters)}`)
      assert.equal(titleIn(page), 'Sign out')
      const out = await browser.submit(page, {})
      const silent = await browser.open(authorizeUrl(client, challenge, { prompt: 'none' }))
      const error = new URL(silent.location ?? '').searchParams.get('error')
      assert.equal(error, 'login_required')
      return refreshIn(out.html) ?? titleIn(out)
    }
    return { client, hint, logout }
  }

  test('returns to the client with its state, and signs the user out', async () => {
    const app = await server()
    const { hint, logout } = await signedInAt(app)
    const asked = { id_token_hint: hint, post_logout_redirect_uri: after, state: 'x y' }
    assert.equal(await logout(asked), `${after}?state=x+y`)
  })

  test('returns to the client without a state when none was sent', async () => {
    const app = await server()
    const { hint, logout } = await signedInAt(app)
    assert.equal(await logout({ id_token_hint: hint, post_logout_redirect_uri: after }), after)
  })

  const stays: Record<string, (hint: string) => Record<string, string>> = {
    'without parameters': () => ({}),
    'with a state only': () => ({ state: 'x' }),
    'without post_logout_redirect_uri': (hint) => ({ id_token_hint: hint, state: 'x' }),
    'without id_token_hint and client_id': () => ({ post_logout_redirect_uri: after }),
    'with an address that is not registered': (hint) => ({
      id_token_hint: hint,
      post_logout_redirect_uri: 'https://app.example/other',
    }),
    'with a query added to the registered address': (hint) => ({
      id_token_hint: hint,
      post_logout_redirect_uri: `${after}?foo=bar`,
    }),
    'with a hint whose alg is none': (hint) => {
      const header = Buffer.from('{"alg":"none"}').toString('base64url')
      const unsigned = `${header}.${hint.split('.')[1]}.`
      return { id_token_hint: unsigned, post_logout_redirect_uri: after }
    },
  }
  test('shows the signed-out page and does not redirect when the request names no registered address', async () => {
    const app = await server()
    for (const [name, parameters] of Object.entries(stays)) {
      const { hint, logout } = await signedInAt(app)
      assert.equal(await logout(parameters(hint)), 'You are signed out', name)
    }
  })

  test('does not redirect for an id_token_hint of another issuer or another client', async () => {
    const app = await server()
    const { privateKey } = await generateKeyPair('ES256')
    const { client, logout } = await signedInAt(app)
    const forged = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(app.jwt.issuer)
      .setSubject(crypto.randomUUID())
      .setAudience(client.client_id)
      .sign(privateKey)
    const asked = { client_id: client.client_id, post_logout_redirect_uri: after }
    assert.equal(await logout({ ...asked, id_token_hint: forged }), 'You are signed out')
    const other = await signedInAt(app)
    const mixed = { ...asked, id_token_hint: other.hint }
    assert.equal(await other.logout(mixed), 'You are signed out')
  })
})
