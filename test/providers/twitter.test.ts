import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createOauthProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { startFakeTwitter } from '../support/providers/fake-twitter.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'

suite('twitter', () => {
  test('signs a user in', async (t) => {
    const { fake, provider } = await start(t)

    const identity = await provider.identity(await visit(provider, { scopes: ['ignored'] }))

    const name = 'Ann Lee'
    const picture = 'https://i.test/p'
    assert.deepEqual(identity, {
      providerId: '9',
      claims: {
        sub: '9',
        provider_id: '9',
        name,
        full_name: name,
        picture,
        avatar_url: picture,
        preferred_username: 'ann',
        user_name: 'ann',
        email: 'ann@ex.test',
        email_verified: true,
        phone_verified: false,
        iss: `${fake.origin}/1.1/account/verify_credentials.json`,
      },
      emails: [{ email: 'ann@ex.test', verified: true, primary: true }],
      providerToken: 'at',
    })
    assert.deepEqual(fake.deviations, [])
  })

  test('signs a user without an email in', async (t) => {
    const { fake, provider } = await start(t)
    delete fake.user.email
    const identity = await provider.identity(await visit(provider))
    assert.deepEqual(identity.emails, [])
  })

  test('rejects the grant of another user in the callback', async (t) => {
    const { provider } = await start(t)
    const [mine, theirs] = [await visit(provider), await visit(provider)]
    const injected = provider.identity({ ...mine, params: theirs.params })
    await assert.rejects(injected, { name: 'ProviderError', kind: 'callback' })
    const forgotten = provider.identity({ ...mine, secrets: {} })
    await assert.rejects(forgotten, { kind: 'callback' })
  })

  test('rejects a denial, a failed start and a used verifier', async (t) => {
    const { provider, fake } = await start(t)
    const callback = await visit(provider)
    const denied = { ...callback, params: { denied: 't1' } }
    await assert.rejects(provider.identity(denied), { kind: 'code_exchange' })
    await provider.identity(callback)
    await assert.rejects(provider.identity(callback), { kind: 'code_exchange' })

    const wrong = fakeProviderSettings({ url: fake.origin, secret: 'wrong' })
    const rejected = createOauthProvider('twitter', wrong, createUpstream())
    assert.ok(rejected)
    await assert.rejects(visit(rejected), { kind: 'request_token' })
  })
})

async function start(t: TestContext) {
  const fake = await startFakeTwitter(t)
  const provider = createOauthProvider(
    'twitter',
    fakeProviderSettings({ url: fake.origin }),
    createUpstream(),
  )
  assert.ok(provider)
  return { fake, provider }
}
