/** The redirect while a provider is unreachable. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createOauthProvider, providerNames } from '../../providers/registry.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import { publicAddressByProvider } from '../support/providers/public-addresses.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'

const request = { state: 's', scopes: [], params: {}, now: new Date() }

suite('redirect to a provider', () => {
  for (const name of providerNames) {
    // OAuth 1.0a starts with a request, and Keycloak’s URL is configured.
    if (name === 'twitter' || name === 'keycloak') continue
    test(`${name}: sends no request before the redirect`, async () => {
      const silent: typeof globalThis.fetch = () => new Promise(() => {})
      const provider = createOauthProvider(
        name,
        fakeProviderSettings({ privateKey: '' }),
        createUpstream(silent),
      )
      assert.ok(provider)
      // A request would never complete.
      const { url } = await provider.authorizationUrl(request)
      const bases = Object.keys(publicAddressByProvider[name]?.bases ?? {})
      assert.ok(
        bases.some((base) => url.href.startsWith(base)),
        url.href,
      )
    })
  }

  for (const [name, iss] of Object.entries({
    google: 'https://accounts.google.com',
    apple: 'https://appleid.apple.com',
  })) {
    test(`${name}: uses the discovery document once fetched`, async () => {
      const issuer = fakeIssuer()
      issuer.state.down = true
      const upstream = createUpstream(issuer.fetch)
      const provider = createOauthProvider(name, fakeProviderSettings({}), upstream)
      assert.ok(provider)
      const published = (await provider.authorizationUrl(request)).url
      assert.equal(published.origin, iss)
      assert.equal(issuer.state.asked.length, 1)

      issuer.state.down = false
      issuer.state.changes = { authorization_endpoint: 'https://moved.test/authorize' }
      const later = new Date(request.now.getTime() + 31_000)
      await upstream.issuers.metadata(iss, () => true, later)
      const { url } = await provider.authorizationUrl({ ...request, now: later })
      assert.equal(url.origin, 'https://moved.test')
    })
  }

  test('google: exchanges codes and verifies tokens while discovery is down', async () => {
    const requested: string[] = []
    const noDiscovery: typeof globalThis.fetch = async (input) => {
      requested.push(input instanceof Request ? input.url : input.toString())
      throw new TypeError('fetch failed')
    }
    const provider = createOauthProvider(
      'google',
      fakeProviderSettings({}),
      createUpstream(noDiscovery),
    )
    const { secrets } = (await provider?.authorizationUrl(request)) ?? assert.fail()
    const callback = { params: { code: 'c' }, secrets, now: new Date() }
    await assert.rejects(provider?.identity(callback) ?? assert.fail(), { isDown: true })
    assert.ok(requested.includes('https://oauth2.googleapis.com/token'), requested.join())
  })
})
