import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createOauthProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'
import { json, providerError, start } from '../support/providers/sign-in.ts'

suite('authorization code flow', () => {
  test('caches the client authentication method that was accepted', async (t) => {
    const { fake, signIn } = await start(t, 'twitch')

    await signIn()
    await signIn()

    const tokenRequests = fake.requests.filter((request) => request === 'POST /oauth2/token')
    assert.equal(tokenRequests.length, 3)
  })

  const tokens = 'access_token=at1&token_type=bearer&scope=identify'
  for (const type of ['text/html; charset=utf-8', 'application/octet-stream', 'x', '']) {
    for (const body of [tokens, JSON.stringify(Object.fromEntries(new URLSearchParams(tokens)))]) {
      const form = body === tokens ? 'a form' : 'JSON'
      test(`reads tokens in ${form} with content type ${JSON.stringify(type)}`, async (t) => {
        const { fake, signIn } = await start(t, 'discord')
        fake.instead.set('/api/oauth2/token', { type, body })
        assert.ok((await signIn()).providerId)
      })
    }
  }

  test('forwards scopes and extra parameters, but no protocol parameters', async () => {
    const provider = createOauthProvider('discord', fakeProviderSettings({}), createUpstream())
    const params = {
      prompt: 'none',
      workos_provider: 'authkit',
      provider: 'discord',
      scopes: 'guilds',
      redirect_uri: 'https://evil.test',
      Client_ID: 'evil',
      state: 'evil',
      request_uri: 'x',
    }

    const scopes = ['guilds', 'email']
    const authorization = await provider?.authorizationUrl({
      state: 's',
      scopes,
      params,
      now: new Date(),
    })

    assert.equal(
      authorization?.url.href,
      'https://discord.com/api/oauth2/authorize?client_id=client+1&prompt=none&provider=authkit' +
        '&redirect_uri=http%3A%2F%2Fapp.test%2Fcallback&response_type=code' +
        '&scope=email+identify+guilds&state=s',
    )
    assert.deepEqual(authorization.secrets, {})
  })

  test('sends a scope parameter instead of the default scopes, and none to Notion', async () => {
    const getScope = async (name: string, params: Record<string, string>) => {
      const provider = createOauthProvider(name, fakeProviderSettings({}), createUpstream())
      const request = { state: 's', scopes: ['more'], params, now: new Date() }
      return (await provider?.authorizationUrl(request))?.url.searchParams.get('scope')
    }
    assert.equal(await getScope('discord', { scope: 'identify' }), 'identify')
    assert.equal(await getScope('notion', {}), null)
  })

  const unfinished: [string, Record<string, string>][] = [
    ['without a client id', { clientIds: '' }],
    ['without a client secret', { secret: '' }],
    ['without a redirect URI', { redirectUri: '' }],
  ]
  for (const [title, { clientIds, ...changes }] of unfinished) {
    test(`fails before the redirect ${title}`, async () => {
      const ids = clientIds === '' ? { clientIds: [] } : {}
      const provider = createOauthProvider(
        'github',
        fakeProviderSettings({ ...changes, ...ids }),
        createUpstream(),
      )
      assert.ok(provider)
      assert.equal((await providerError(visit(provider))).kind, 'configuration')
    })
  }

  test('rejects a callback without its stored verifier or nonce', async (t) => {
    const { provider, fake } = await start(t, 'google')
    const callback = await visit(provider)
    const stripped = [
      [{}, 'no_verifier'],
      [{ nonce: callback.secrets.nonce ?? '' }, 'no_verifier'],
      [{ codeVerifier: 'x' }, 'callback'],
    ] as const
    for (const [secrets, kind] of stripped) {
      const error = await providerError(provider.identity({ ...callback, secrets }))
      assert.equal(error.kind, kind)
    }
    assert.ok(!fake.requests.includes('POST /token'))
  })

  test('rejects the code of another flow by verifier and nonce', async (t) => {
    const { provider } = await start(t, 'google')
    const [mine, theirs] = [await visit(provider), await visit(provider)]
    const injected = { ...mine, params: theirs.params }
    assert.equal((await providerError(provider.identity(injected))).kind, 'code_exchange')

    const { nonce = '' } = mine.secrets
    const again = await visit(provider)
    const swapped = { ...again, secrets: { ...again.secrets, nonce } }
    assert.equal((await providerError(provider.identity(swapped))).kind, 'id_token')
  })

  test('rejects a callback of another issuer without using its code (RFC 9207)', async (t) => {
    const { provider, fake } = await start(t, 'google')
    const callback = await visit(provider)
    const params = { ...callback.params, iss: 'https://evil.test' }
    assert.equal((await providerError(provider.identity({ ...callback, params }))).kind, 'callback')
    assert.ok(!fake.requests.includes('POST /token'))
  })

  test('rejects a callback without the promised iss parameter', async (t) => {
    const { provider, fake } = await start(t, 'google')
    const metadata = {
      issuer: fake.origin,
      jwks_uri: `${fake.origin}/jwks`,
      authorization_endpoint: `${fake.origin}/o/oauth2/v2/auth`,
      token_endpoint: `${fake.origin}/token`,
      authorization_response_iss_parameter_supported: true,
    }
    fake.instead.set('/.well-known/openid-configuration', json(metadata))
    const callback = await visit(provider)
    assert.equal((await providerError(provider.identity(callback))).kind, 'callback')
    assert.ok(!fake.requests.includes('POST /token'))
    const params = { ...callback.params, iss: fake.origin }
    assert.equal((await provider.identity({ ...callback, params })).providerId, '11')
  })

  test('rejects a callback without a code', async (t) => {
    const { provider } = await start(t, 'discord')
    const callback = await visit(provider)
    assert.equal(
      (await providerError(provider.identity({ ...callback, params: {} }))).kind,
      'callback',
    )
  })
})
