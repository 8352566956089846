/** The generic provider and providers with id_tokens against a real OpenID provider. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { ProviderIdentity } from '../../providers/core/types.ts'
import { createOauthProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'
import {
  type OpenidProviderOptions,
  signInAs,
  startOpenidProvider,
} from '../support/providers/openid-provider.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'

suite('OpenID provider', () => {
  for (const claimsInIdToken of [true, false]) {
    test(`returns claims of ${claimsInIdToken ? 'the id_token' : 'userinfo'}`, async (t) => {
      const { issuer, signIn } = await start(t, 'acme', { claimsInIdToken })

      const identity = await signIn('ann')

      const { aud, iat, exp, ...claims } = identity.claims
      assert.deepEqual(claims, {
        iss: issuer,
        sub: 'ann',
        name: 'Ann Lee',
        email: 'ann@ex.test',
        email_verified: true,
        phone_verified: false,
      })
      assert.deepEqual(aud, ['client 1'])
      assert.ok(Number(exp) > Number(iat))
      assert.equal(identity.providerId, 'ann')
      assert.ok(identity.providerToken)
    })
  }

  test('reports an unverified email', async (t) => {
    const options = { claimsInIdToken: false, emailVerified: false }
    const { signIn } = await start(t, 'acme', options)
    const { emails } = await signIn('ann')
    assert.deepEqual(emails, [{ email: 'ann@ex.test', verified: false, primary: true }])
  })

  test('accepts a code once, with its own verifier only', async (t) => {
    const { provider, begin } = await start(t, 'acme', { claimsInIdToken: true })
    const [mine, theirs] = [await begin('ann'), await begin('eve')]
    const injected = provider.identity({ ...mine, params: theirs.params })
    await assert.rejects(injected, { kind: 'code_exchange' })
    await provider.identity(mine)
    await assert.rejects(provider.identity(mine), { kind: 'code_exchange' })
  })

  test('signs a user in as google with a configured URL', async (t) => {
    const { signIn, issuer } = await start(t, 'google', { claimsInIdToken: true })
    const { claims } = await signIn('ann')
    assert.equal(claims.email, 'ann@ex.test')
    assert.equal(claims.iss, issuer)
  })

  test('rejects userinfo of another sub', async (t) => {
    const { documented } = cases.google ?? {}
    assert.ok(documented)
    const claims = { sub: 'eve', name: 'Eve' }
    const fake = await startFakeProvider(t, { ...documented, idToken: { issuer: '', claims } })
    const provider = createOauthProvider(
      'acme',
      fakeProviderSettings({ issuer: fake.origin }),
      createUpstream(),
    )
    assert.ok(provider)
    for (const sub of ['eve', 'ann']) {
      const profile = { sub, name: 'Ann', email: 'ann@ex.test', email_verified: true }
      fake.instead.set('/userinfo', { body: JSON.stringify(profile) })
      const signIn: Promise<ProviderIdentity> = provider.identity(await visit(provider))
      if (sub === 'eve') {
        const { claims: known } = await signIn
        assert.deepEqual(
          [known.email, known.name],
          ['ann@ex.test', 'Eve'],
          'what is signed counts first',
        )
      } else await assert.rejects(signIn, { kind: 'profile' })
    }
  })

  test('requires an issuer', async () => {
    assert.equal(createOauthProvider('acme', fakeProviderSettings({}), createUpstream()), undefined)
  })
})

async function start(t: TestContext, name: string, options: OpenidProviderOptions) {
  const { issuer } = await startOpenidProvider(t, options)
  const settings = fakeProviderSettings({ issuer, url: issuer })
  const found = createOauthProvider(name, settings, createUpstream())
  assert.ok(found)
  const provider = found

  async function begin(login: string) {
    const now = new Date()
    const request = { state: 'state-1', scopes: [], params: {}, now }
    const { url, secrets } = await provider.authorizationUrl(request)
    return { params: await signInAs(login, url), secrets, now }
  }
  const signIn = async (login: string) => provider.identity(await begin(login))
  return { issuer, provider, begin, signIn }
}
