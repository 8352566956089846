/** What providers answer on bad days, and what people leave out of their profiles. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { type Identity, ProviderError, type ProviderFault } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { type Answer, client, startFakeProvider } from '../support/providers/fake-provider.ts'
import { settingsOf, upstreamOf } from '../support/providers/settings.ts'

const html: Answer = { type: 'text/html', status: 200, body: '<h1>Maintenance</h1>' }

suite('answers that are none', () => {
  const failures: [string, string, Answer | 'silence', ProviderFault][] = [
    [
      'github',
      '/login/oauth/access_token',
      json({ error: 'bad_verification_code' }),
      'code_exchange',
    ],
    ['slack', '/api/oauth.access', json({ ok: false, error: 'invalid_code' }), 'code_exchange'],
    ['discord', '/api/oauth2/token', json({ token_type: 'bearer' }), 'code_exchange'],
    ['discord', '/api/oauth2/token', html, 'code_exchange'],
    ['discord', '/api/oauth2/token', 'silence', 'code_exchange'],
    ['discord', '/api/oauth2/token', moved('/elsewhere'), 'code_exchange'],
    ['gitlab', '/api/v4/user', moved('/elsewhere'), 'profile'],
    [
      'discord',
      '/api/oauth2/token',
      json({ access_token: 'x'.repeat(2_000_000) }),
      'code_exchange',
    ],
    ['slack', '/api/openid.connect.userInfo', json({ ok: false }), 'profile'],
    ['slack', '/api/openid.connect.userInfo', json({ ok: false, error: 'x' }), 'profile'],
    ['facebook', '/me', json({ error: { message: 'no', code: 190 } }), 'profile'],
    ['gitlab', '/api/v4/user', { ...json({ message: '401' }), status: 401 }, 'profile'],
    ['gitlab', '/api/v4/user', html, 'profile'],
    ['gitlab', '/api/v4/user', 'silence', 'profile'],
    ['gitlab', '/api/v4/user', json(null), 'profile'],
    ['gitlab', '/api/v4/user', json({ id: null, email: 'ann@ex.test' }), 'profile'],
    // Rounded: the same number as its neighbours, who are other people.
    ['gitlab', '/api/v4/user', { body: '{"id":9007199254740993}' }, 'profile'],
    ['twitch', '/helix/users', json({ data: [] }), 'profile'],
  ]
  for (const [name, path, answer, kind] of failures) {
    const what = answer === 'silence' ? answer : answer.body.slice(0, 50)
    test(`${name} ${path}: ${what} is ${kind}`, async (t) => {
      const { fake, signIn } = await start(t, name, 100)
      fake.instead.set(path, answer)
      fake.instead.set('/elsewhere', json({ access_token: 'at1', id: 4 }))

      const error = await faultOf(signIn())

      assert.equal(error.kind, kind)
      assert.ok(!fake.requests.some((request) => request.endsWith('/elsewhere')))
      for (const secret of [client.secret, 'code-1', 'at1']) {
        assert.ok(!error.message.includes(secret), error.message)
      }
    })
  }

  test('discovery that is silent, a page, or of another issuer', async (t) => {
    const answers: (Answer | 'silence')[] = [
      'silence',
      html,
      { status: 503, body: '' },
      json({ issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' }),
    ]
    for (const answer of answers) {
      const { fake, signIn } = await start(t, 'google', 100)
      fake.instead.set('/.well-known/openid-configuration', answer)
      assert.equal((await faultOf(signIn())).kind, 'discovery')
    }
  })
})

suite('profiles with less or more in them', () => {
  const email = 'ann@ex.test'
  const profiles: [string, string, string, unknown, Partial<Identity['claims']>][] = [
    ['no address', 'facebook', '/me', { id: '5' }, { email: undefined, email_verified: false }],
    ['an empty address', 'figma', '/v1/me', { id: '5', email: '' }, { email: undefined }],
    ['a private address', 'github', '/api/v3/user/emails', [], { email: undefined }],
    ['unverified', 'discord', '/api/users/@me', { id: '7', email }, { email_verified: false }],
    [
      'no avatar',
      'discord',
      '/api/users/@me',
      { id: '7', username: 'ann', discriminator: '0007', email },
      { name: 'ann#0007', picture: 'https://cdn.discordapp.com/embed/avatars/2.png' },
    ],
    [
      'an animated avatar',
      'discord',
      '/api/users/@me',
      { id: '7', username: 'ann', avatar: 'a_b' },
      { picture: 'https://cdn.discordapp.com/avatars/7/a_b.gif', email: undefined },
    ],
    ['not confirmed', 'gitlab', '/api/v4/user', { id: 4, email }, { email_verified: false }],
    [
      'the id as text',
      'gitlab',
      '/api/v4/user',
      { id: '4', email, confirmed_at: '2020-02-02' },
      { sub: '4', email_verified: true },
    ],
    [
      'no primary address: the last',
      'bitbucket',
      '/2.0/user/emails',
      { values: [{ email: 'a@ex.test', is_confirmed: true }, { email: 'b@ex.test' }] },
      { email: 'b@ex.test', email_verified: false },
    ],
    [
      'Kakao, valid but not verified',
      'kakao',
      '/v2/user/me',
      { id: 1, kakao_account: { email, is_email_valid: true } },
      { email_verified: false, name: undefined },
    ],
    [
      'Zoom, address not proven',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: 100, verified: 0 },
      { email_verified: false },
    ],
    [
      'Zoom, by another provider',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: 1, verified: 0 },
      { email_verified: true },
    ],
    [
      'LinkedIn without address',
      'linkedin',
      '/v2/emailAddress',
      { elements: [] },
      { email: undefined, name: 'Ann Lee' },
    ],
    [
      'a verification as text',
      'keycloak',
      '/protocol/openid-connect/userinfo',
      { sub: 'k', email, email_verified: 'false' },
      { email_verified: false },
    ],
    [
      'wrong types',
      'keycloak',
      '/protocol/openid-connect/userinfo',
      { sub: 'k', email: { at: 'all' }, name: ['x'], email_verified: 1 },
      { email: undefined, name: undefined, email_verified: false },
    ],
    [
      'surroundings and capitals',
      'figma',
      '/v1/me',
      { id: 'f', email: ' Ann@EX.test ' },
      { email, email_verified: true },
    ],
    [
      'a look-alike that folds into another mailbox',
      'figma',
      '/v1/me',
      { id: 'f', email: 'ann@ex.te\u017Ft' },
      { email, email_verified: false },
    ],
  ]
  for (const [title, name, path, body, expected] of profiles) {
    test(`${name}: ${title}`, async (t) => {
      const { fake, signIn } = await start(t, name)
      fake.instead.set(path, json(body))

      const { claims } = await signIn()

      for (const [claim, value] of Object.entries(expected))
        assert.equal(claims[claim], value, claim)
      assert.equal(claims.phone_verified, false)
      assert.ok(!Object.values(claims).includes(''))
    })
  }
})

suite('the code flow', () => {
  test('client authentication that worked once is tried first from then on', async (t) => {
    const { fake, signIn } = await start(t, 'twitch')

    await signIn()
    await signIn()

    const tokenRequests = fake.requests.filter((request) => request === 'POST /oauth2/token')
    assert.equal(tokenRequests.length, 3)
  })

  test('scopes and parameters of the client are passed on, those of the protocol are not', async () => {
    const provider = createProvider('discord', settingsOf({}), upstreamOf())
    const params = {
      ...{ prompt: 'none', workos_provider: 'authkit', provider: 'discord', scopes: 'guilds' },
      ...{ redirect_uri: 'https://evil.test', Client_ID: 'evil', state: 'evil', request_uri: 'x' },
    }

    const scopes = ['guilds', 'email']
    const authorization = await provider?.authorizationUrl({
      ...{ state: 's', scopes, params, now: new Date() },
    })

    assert.equal(
      authorization?.url.href,
      'https://discord.com/api/oauth2/authorize?client_id=client+1&prompt=none&provider=authkit' +
        '&redirect_uri=http%3A%2F%2Fapp.test%2Fcallback&response_type=code' +
        '&scope=email+identify+guilds&state=s',
    )
    assert.deepEqual(authorization.secrets, {})
  })

  test('a parameter named scope replaces the list; Notion takes no extra scopes', async () => {
    const scopeOf = async (name: string, params: Record<string, string>) => {
      const provider = createProvider(name, settingsOf({}), upstreamOf())
      const request = { state: 's', scopes: ['more'], params, now: new Date() }
      return (await provider?.authorizationUrl(request))?.url.searchParams.get('scope')
    }
    assert.equal(await scopeOf('discord', { scope: 'identify' }), 'identify')
    assert.equal(await scopeOf('notion', {}), null)
  })

  const unfinished: [string, Record<string, string>][] = [
    ['without id', { clientIds: '' }],
    ['without secret', { secret: '' }],
    ['without redirect URI', { redirectUri: '' }],
  ]
  for (const [title, { clientIds, ...changes }] of unfinished) {
    test(`${title} the browser is not sent away`, async () => {
      const ids = clientIds === '' ? { clientIds: [] } : {}
      const provider = createProvider('github', settingsOf({ ...changes, ...ids }), upstreamOf())
      assert.ok(provider)
      assert.equal((await faultOf(visit(provider))).kind, 'configuration')
    })
  }

  test('a flow begun with PKCE or a nonce is not finished without it', async (t) => {
    const { provider, fake } = await start(t, 'google')
    const callback = await visit(provider)
    const stripped = [{}, { nonce: callback.secrets.nonce ?? '' }, { codeVerifier: 'x' }]
    for (const secrets of stripped) {
      const error = await faultOf(provider.identity({ ...callback, secrets }))
      assert.equal(error.kind, 'callback')
    }
    assert.ok(!fake.requests.includes('POST /token'))
  })

  test('the code of another flow is refused by verifier and by nonce', async (t) => {
    const { provider } = await start(t, 'google')
    const [mine, theirs] = [await visit(provider), await visit(provider)]
    const injected = { ...mine, params: theirs.params }
    assert.equal((await faultOf(provider.identity(injected))).kind, 'code_exchange')

    const { nonce = '' } = mine.secrets
    const again = await visit(provider)
    const swapped = { ...again, secrets: { ...again.secrets, nonce } }
    assert.equal((await faultOf(provider.identity(swapped))).kind, 'id_token')
  })

  test('a callback that names another issuer spends no code (RFC 9207)', async (t) => {
    const { provider, fake } = await start(t, 'google')
    const callback = await visit(provider)
    const params = { ...callback.params, iss: 'https://evil.test' }
    assert.equal((await faultOf(provider.identity({ ...callback, params }))).kind, 'callback')
    assert.ok(!fake.requests.includes('POST /token'))
  })

  test('a callback without a code', async (t) => {
    const { provider } = await start(t, 'discord')
    const callback = await visit(provider)
    assert.equal((await faultOf(provider.identity({ ...callback, params: {} }))).kind, 'callback')
  })
})

function moved(location: string): Answer {
  return { status: 307, location, body: '' }
}

function json(body: unknown): Answer {
  return { body: JSON.stringify(body) }
}

async function start(t: TestContext, name: string, timeoutMs?: number) {
  const documented = cases[name]?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, documented)
  const upstream = upstreamOf(fetch, timeoutMs)
  const provider = createProvider(name, settingsOf({ url: fake.origin }), upstream)
  assert.ok(provider)
  const signIn = async () => provider.identity(await visit(provider))
  return { fake, provider, signIn }
}

async function faultOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ProviderError, String(error))
  return error
}
