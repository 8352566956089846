/** AUTH_EXTERNAL_<P>_API_URL: where the profile is requested. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createOauthProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'
import { startFakeTwitter } from '../support/providers/fake-twitter.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'

suite('AUTH_EXTERNAL_<P>_API_URL', () => {
  for (const [title, { documented }] of Object.entries(cases)) {
    const paths = Object.keys(documented.api).map((path) => path.split('?')[0])
    const what =
      paths.length > 0
        ? 'requests the profile only from the API URL'
        : 'requests nothing from the API URL when the ID token contains the profile'
    test(`${title}: ${what}`, async (t) => {
      const web = await startFakeProvider(t, documented)
      const api = await startFakeProvider(t, documented)
      const urls = { url: web.origin, apiUrl: `${api.origin}/` }
      const provider = createOauthProvider(
        title.split(' ')[0] ?? '',
        fakeProviderSettings(urls),
        createUpstream(),
      )
      assert.ok(provider)

      await provider.identity(await visit(provider))

      const expected = paths.map((path) => `GET ${path}`).toSorted()
      assert.deepEqual(api.requests.toSorted(), expected)
      assert.ok(!web.requests.some((request) => expected.includes(request)), web.requests.join())
      assert.deepEqual([...web.deviations, ...api.deviations], [])
    })
  }

  test('twitter: signs the profile request for the API URL', async (t) => {
    const web = await startFakeTwitter(t)
    const api = await startFakeTwitter(t)
    web.user.screen_name = 'of the other address'
    const urls = { url: web.origin, apiUrl: `${api.origin}/` }
    const provider = createOauthProvider('twitter', fakeProviderSettings(urls), createUpstream())
    assert.ok(provider)

    const { claims } = await provider.identity(await visit(provider))

    assert.equal(claims.user_name, 'ann')
    assert.equal(claims.iss, `${web.origin}/1.1/account/verify_credentials.json`)
    const profile = '/1.1/account/verify_credentials.json'
    assert.deepEqual(api.requests, [`GET ${profile}`])
    assert.deepEqual(
      web.requests,
      ['/oauth/request_token', '/oauth/authenticate', '/oauth/access_token'].map(
        (path) => `GET ${path}`,
      ),
    )
    assert.deepEqual([...web.deviations, ...api.deviations], [])
  })
})
