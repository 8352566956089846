/** AUTH_EXTERNAL_<P>_API_URL: where the profile is asked for. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'
import { settingsOf, upstreamOf } from '../support/providers/settings.ts'

suite('the API of a provider', () => {
  for (const name of ['github', 'discord']) {
    test(`${name}: another address is asked for the profile, and for nothing else`, async (t) => {
      const documented = cases[name]?.documented
      assert.ok(documented)
      const web = await startFakeProvider(t, documented)
      const api = await startFakeProvider(t, documented)
      const urls = { url: web.origin, apiUrl: `${api.origin}/` }
      const provider = createProvider(name, settingsOf(urls), upstreamOf())
      assert.ok(provider)
      await provider.identity(await visit(provider))
      assert.ok(api.requests.length > 0)
      assert.ok(api.requests.every((request) => request.startsWith('GET ')))
      assert.ok(!api.requests.some((request) => web.requests.includes(request)))
    })
  }
})
