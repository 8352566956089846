/**
 * Client id, client secret and redirect URI of every provider, each its own, from its variables to its server: through
 * /authorize and /callback, against a provider that rejects any but those that are registered with it.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { type ProviderName, providerNames } from '../../providers/registry.ts'
import type { Ending } from '../support/processes/ending.ts'
import { followAuthorization } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { type Registration, startFakeProvider } from '../support/providers/fake-provider.ts'
import { startFakeTwitter } from '../support/providers/fake-twitter.ts'
import { build } from '../support/server.ts'

suite('client credentials of providers', () => {
  for (const name of providerNames) {
    test(`${name}: sends its configured id, secret and redirect URI`, async (t) => {
      const { fake, signIn } = await setUp(t, name)
      const outcome = await signIn()
      assert.ok(isSignedIn(outcome) || isUnverified(outcome), outcome.toString())
      assert.deepEqual(fake.complaints, [])
    })

    test(`${name}: fails with an unregistered secret`, async (t) => {
      const { fake, signIn } = await setUp(t, name)
      fake.registered.secret = 'another secret'
      await assertRejected(signIn)
      assert.notDeepEqual(fake.complaints, [])
    })

    test(`${name}: fails with an unregistered redirect URI`, async (t) => {
      const { fake, signIn } = await setUp(t, name)
      fake.registered.redirectUri = 'https://elsewhere.test/callback'
      await assertRejected(signIn)
      assert.notDeepEqual(fake.complaints, [])
    })
  }
})

async function setUp(t: TestContext, name: ProviderName) {
  const registered = {
    id: `id of ${name}`,
    secret: `${name}:s/+cret`,
    redirectUri: `http://${name.replaceAll('_', '-')}.test/callback`,
  }
  const fake = await startFake(t, name, registered)
  const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
  const env = {
    [`${prefix}_ENABLED`]: 'true',
    [`${prefix}_CLIENT_ID`]: registered.id,
    [`${prefix}_SECRET`]: registered.secret,
    [`${prefix}_REDIRECT_URI`]: registered.redirectUri,
    [`${prefix}_URL`]: fake.origin,
  }
  const { redirectUri } = registered
  const { app } = await build(t, { dev: true, env })

  /** From /authorize to the provider and back to /callback: the fragment that the site gets. */
  async function signIn(): Promise<URLSearchParams> {
    const sent = await app.inject(`/authorize?provider=${name}`)
    assert.equal(sent.statusCode, 302, sent.body)
    const fields = await followAuthorization(String(sent.headers.location), redirectUri)
    const payload = new URLSearchParams(fields).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const back =
      name === 'apple'
        ? await app.inject({ method: 'POST', url: '/callback', headers, payload })
        : await app.inject(`/callback?${payload}`)
    return new URLSearchParams(new URL(String(back.headers.location)).hash.slice(1))
  }

  return { fake, signIn }
}

function startFake(t: Ending, name: ProviderName, registered: Registration) {
  if (name === 'twitter') return startFakeTwitter(t, registered)
  const documented = cases[name]?.documented
  assert.ok(documented)
  return startFakeProvider(t, documented, undefined, registered)
}

/** The provider stops before the redirect, or the callback fails. */
async function assertRejected(signIn: () => Promise<URLSearchParams>): Promise<void> {
  const outcome = await signIn().catch(() => new URLSearchParams({ error: 'not sent back' }))
  assert.ok(!isSignedIn(outcome) && !isUnverified(outcome), outcome.toString())
  assert.ok(outcome.has('error'))
}

function isSignedIn(outcome: URLSearchParams): boolean {
  return outcome.has('access_token')
}

/** The identity was read, and its email is not verified by the provider. */
function isUnverified(outcome: URLSearchParams): boolean {
  return outcome.get('error_code') === 'provider_email_needs_verification'
}
