/** One user and all providers, each strict about its documentation: all lead to one account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { providerEnv } from '../support/external.ts'
import { followAuthorization } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { type FakeProvider, startFakeProvider } from '../support/providers/fake-provider.ts'
import { type App, build } from '../support/server.ts'

/** Its addresses count as unverified: they sign in to no existing account. */
const unverified = ['spotify']

suite('all providers', () => {
  test('sign the user in to the same account', async (t) => {
    const titles = Object.keys(cases).filter((title) => !title.includes(' '))
    const fakes = new Map<string, FakeProvider>()
    for (const title of titles) {
      const documented = cases[title]?.documented
      assert.ok(documented)
      fakes.set(title, await startFakeProvider(t, documented))
    }
    const settings = [...fakes].map(([name, fake]) => providerEnv(name, fake.origin))
    const { app } = await build(t, { dev: true, env: Object.assign({}, ...settings) })

    // A verified email comes first, so that each email is known.
    for (const name of ['github', ...titles.filter((title) => title !== 'github')]) {
      await t.test(`signs in by ${name}, with a verified email only`, async () => {
        const fragment = await signIn(app, name)
        if (unverified.includes(name)) {
          assert.equal(fragment.get('error_code'), 'provider_email_needs_verification')
        } else {
          assert.equal(fragment.get('provider'), name, fragment.toString())
          assert.equal(fragment.get('provider_token'), 'at1')
        }
        assert.deepEqual(fakes.get(name)?.deviations, [])
      })
    }

    const users = await app.db.selectFrom('users').select('raw_app_meta_data').execute()
    assert.equal(users.length, 1)
    const known = users[0]?.raw_app_meta_data?.providers
    const expected = titles.filter((title) => !unverified.includes(title))
    assert.deepEqual(Array.isArray(known) && known.toSorted(), expected.toSorted())
  })
})

async function signIn(app: App, provider: string): Promise<URLSearchParams> {
  const sent = await app.inject(`/authorize?provider=${provider}`)
  assert.equal(sent.statusCode, 302, sent.body)
  const fields = new URLSearchParams(
    await followAuthorization(String(sent.headers.location)),
  ).toString()
  const isForm = provider === 'apple'
  const back = isForm
    ? await app.inject({
        method: 'POST',
        url: '/callback',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: fields,
      })
    : await app.inject(`/callback?${fields}`)
  assert.equal(back.statusCode, 302)
  return new URLSearchParams(new URL(String(back.headers.location)).hash.slice(1))
}
