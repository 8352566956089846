/** Each provider in the same flow against a server that follows its documentation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Provider } from '../../providers/core/provider.ts'
import type { ProviderIdentity } from '../../providers/core/types.ts'
import { createOauthProvider, providerNames } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import type { Case } from '../support/providers/documented/ann.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'
import { publicAddressByProvider } from '../support/providers/public-addresses.ts'
import {
  createUpstream,
  fakeProviderSettings,
  publicAddresses,
} from '../support/providers/settings.ts'

suite('sign-in by provider', () => {
  for (const [title, provided] of Object.entries(cases)) {
    const name = title.split(' ')[0] ?? ''

    test(`${title}: signs in with a configured URL`, async (t) => {
      const fake = await startFakeProvider(t, provided.documented)
      const settings = fakeProviderSettings({ url: `${fake.origin}/` })
      const provider = createOauthProvider(name, settings, createUpstream())

      const identity = await signIn(provider, provided)

      assert.deepEqual(settled(identity), provided.claims(fake.origin))
      assert.deepEqual(fake.deviations, [])
    })

    const address = publicAddressByProvider[title]
    if (!address) continue
    test(`${title}: signs in with its public URLs`, async (t) => {
      const fake = await startFakeProvider(t, provided.documented, address.issuer)
      const { fetch, toLocalUrl } = publicAddresses(fake.origin, address.bases)
      const provider = createOauthProvider(name, fakeProviderSettings({}), createUpstream(fetch))

      const identity = await signIn(provider, provided, toLocalUrl)

      const expected = address.claims ?? provided.claims(fake.origin)
      assert.deepEqual(settled(identity), { ...expected, iss: address.iss })
      assert.deepEqual(fake.deviations, [])
    })
  }

  test('covers each provider', () => {
    const walked = new Set(Object.keys(cases).map((title) => title.split(' ')[0]))
    // Twitter uses OAuth 1.0a and has its own test file.
    const missing = providerNames.filter((name) => !walked.has(name) && name !== 'twitter')
    assert.deepEqual(missing, [])
    const atHome = Object.keys(cases).filter((title) => !publicAddressByProvider[title])
    assert.deepEqual(atHome, ['keycloak'])
  })
})

async function signIn(provider: Provider | undefined, provided: Case, rewriteUrl?: Addresses) {
  assert.ok(provider)
  const callback = await visit(provider, rewriteUrl && { rewriteUrl })
  const identity = await provider.identity(callback)
  assert.equal(identity.providerId, identity.claims.sub)
  assert.equal(identity.providerToken, 'at1')
  assert.equal(identity.providerRefreshToken, 'rt1')
  const { email, email_verified: verified } = identity.claims
  assert.deepEqual(identity.emails, provided.emails ?? [{ email, verified, primary: true }])
  return identity
}

/** Without the protocol claims of an id_token. */
function settled({ claims }: ProviderIdentity) {
  const { aud, iat, exp, ...rest } = claims
  return rest
}

type Addresses = (url: string) => string
