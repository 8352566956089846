/**
 * Mix-up (RFC 9700 §4.4): the operator of one provider leads the browser to another provider, to get the code that is
 * issued there and to sign in with it. PKCE and the cookie of the flow do not prevent it.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  add,
  authorizeUrl,
  customOnLoopback,
  oauth2Input,
  send,
} from '../../support/custom-providers/requests.ts'
import { type TestDatabase, withoutDrop } from '../../support/database.ts'
import { describe, externalServer, providerEnv, verifiedProfile } from '../../support/external.ts'
import { client, ownRedirectUri, startFakeProvider } from '../../support/providers/fake-provider.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

const documented = {
  authorize: '/authorize',
  scope: 'read',
  pkce: true,
  token: '/token',
  clientAuth: 'basic' as const,
  https: true,
  api: { '/userinfo': { body: { sub: '77', email: 'ann@ex.test', email_verified: true } } },
}

const [honest, attacking] = ['custom:honest', 'custom:attacking']

/** With or without a redirect URI of its own. */
async function withProvider(t: TestContext, app: App, identifier: string, isShared = false) {
  const redirectUri = isShared ? client.redirectUri : ownRedirectUri(identifier)
  const registered = { ...client, redirectUri }
  const fake = await startFakeProvider(t, documented, undefined, registered)
  await add(app, oauth2Input(fake.origin, { identifier }))
  // As GoTrue and earlier versions stored it.
  if (isShared) await app.db.deleteFrom('postern_custom_provider_options').execute()
  return fake
}

/** Sends the browser to the provider; returns the path that it requests then. */
async function visitProvider(url: URL): Promise<string> {
  const back = await fetch(url, { redirect: 'manual' })
  assert.equal(back.status, 302, await back.text())
  const { pathname, search } = new URL(back.headers.get('location') ?? '')
  return pathname + search
}

/**
 * The attacker's own sign-in at the honest provider, with the state of the sign-in that a user began at the attacker's:
 * the code belongs to the challenge of the attacker, who could use it in the own flow.
 */
async function mislead(app: App, at: string, from = attacking) {
  const [own, begun] = [await authorizeUrl(app, at), await authorizeUrl(app, from)]
  own.searchParams.set('state', begun.searchParams.get('state') ?? '')
  return own
}

async function openCallback(app: App, path: string) {
  const response = await app.inject(path)
  const { hash } = new URL(String(response.headers.location))
  return Object.fromEntries(new URLSearchParams(hash.slice(1)))
}

suite('mix-up of providers', () => {
  test('sends no code of a custom provider to another one', async (t) => {
    const { app } = await build(t, customOnLoopback)
    const fake = await withProvider(t, app, honest)
    const attacker = await withProvider(t, app, attacking)
    const path = await visitProvider(await mislead(app, honest))
    assert.equal((await openCallback(app, path)).error_code, 'bad_oauth_callback')
    assert.deepEqual(attacker.requests, [])
    assert.deepEqual(fake.requests, ['GET /authorize'])
    // Each still signs its own users in.
    for (const provider of [honest, attacking]) {
      const own = await visitProvider(await authorizeUrl(app, provider))
      assert.ok((await openCallback(app, own)).access_token, provider)
    }
  })

  test('sends no code of GitHub, which names no issuer, to a custom provider', async (t) => {
    const { app, fakes } = await externalServer(t, customOnLoopback)
    const attacker = await withProvider(t, app, attacking)
    describe(fakes, 'github', verifiedProfile('ann@ex.test', '7'))
    const path = await visitProvider(await mislead(app, 'github'))
    assert.equal((await openCallback(app, path)).error_code, 'bad_oauth_callback')
    assert.deepEqual(attacker.requests, [])
    // GitHub, Slack and Bitbucket accept every redirect URI below the registered one.
    const { callback_url } = (await send(app, 'GET', `/${attacking}`)).json()
    assert.equal(callback_url, ownRedirectUri(attacking))
    assert.ok(!callback_url.startsWith(client.redirectUri))
  })

  test('sends no code of GitHub to a self-hosted provider with a redirect URI of its own', async (t) => {
    const attacker = await startFakeProvider(t, { ...documented, authorize: '/oauth/authorize' })
    const gitlab = {
      ...providerEnv('gitlab', attacker.origin),
      AUTH_EXTERNAL_GITLAB_REDIRECT_URI: ownRedirectUri('gitlab'),
    }
    const { app, fakes } = await externalServer(t, { env: gitlab })
    describe(fakes, 'github', verifiedProfile('ann@ex.test', '7'))
    const path = await visitProvider(await mislead(app, 'github', 'gitlab'))
    assert.equal((await openCallback(app, path)).error_code, 'bad_oauth_callback')
    assert.deepEqual(attacker.requests, [])
  })

  test('rejects a response that names the issuer of another configured provider', async (t) => {
    const google = {
      ...providerEnv('google', 'https://accounts.google.example'),
      AUTH_EXTERNAL_GOOGLE_API_URL: 'https://api.google.example',
    }
    const { app, fakes, startSignIn } = await externalServer(t, { env: google })
    describe(fakes, 'github', verifiedProfile('ann@ex.test', '7'))
    const params = await startSignIn('github')
    const callback = (iss: string) => `/callback?${new URLSearchParams({ ...params, iss })}`
    const mixed = await openCallback(app, callback('https://accounts.google.example'))
    assert.equal(mixed.error_code, 'bad_oauth_callback')
    assert.ok(!fakes.github.requests.some((request) => request.startsWith('POST')))
    assert.ok((await openCallback(app, callback('https://github.com/login/oauth'))).access_token)
  })

  test('rejects a response at the redirect URI of another provider without ending the sign-in', async (t) => {
    const { app } = await build(t, customOnLoopback)
    await withProvider(t, app, honest)
    const path = await visitProvider(await authorizeUrl(app, honest))
    for (const other of [
      '/callback',
      `/providers/${attacking}/callback`,
      '/providers/x/callback',
    ]) {
      const wrong = path.replace(/^[^?]*/, other)
      assert.equal((await openCallback(app, wrong)).error_code, 'bad_oauth_callback', other)
    }
    assert.ok((await openCallback(app, path)).access_token)
  })

  test('keeps the shared redirect URI of an older provider, with a warning, until it is changed', async (t) => {
    const first = await build(t, customOnLoopback)
    const { app } = first
    const older = await withProvider(t, app, honest, true)
    assert.ok(
      (await openCallback(app, await visitProvider(await authorizeUrl(app, honest)))).access_token,
    )
    assert.deepEqual(await sharing(t, first.database), [honest])

    const shown = (await send(app, 'GET', `/${honest}`)).json()
    assert.deepEqual([shown.shared_callback, shown.callback_url], [true, client.redirectUri])
    const changed = (await send(app, 'PUT', `/${honest}`, { shared_callback: false })).json()
    assert.deepEqual(
      [changed.shared_callback, changed.callback_url],
      [false, ownRedirectUri(honest)],
    )
    older.registered.redirectUri = ownRedirectUri(honest)
    assert.ok(
      (await openCallback(app, await visitProvider(await authorizeUrl(app, honest)))).access_token,
    )
    assert.deepEqual(await sharing(t, first.database), [])
    const back = await send(app, 'PUT', `/${honest}`, { shared_callback: true })
    assert.deepEqual(statusAndCode(back), [400, 'validation_failed'])
  })
})

/** The providers that another start on the same database warns about. */
async function sharing(t: TestContext, database: TestDatabase): Promise<string[]> {
  const lines: string[] = []
  await build(t, { ...customOnLoopback, lines, database: withoutDrop(database) })
  const found = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /share the redirect/.test(msg))
  return found.flatMap(({ providers }) => providers)
}
