/**
 * Client id, client secret and redirect URI of every provider, each its own, from its variables to its server: through
 * /authorize and /callback, against a provider that rejects any but those that are registered with it.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ProviderName, providerNames } from '../../providers/registry.ts'
import type { Ending } from '../support/processes/ending.ts'
import { shareServers } from '../support/processes/shared-servers.ts'
import { followAuthorization } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { type Registration, startFakeProvider } from '../support/providers/fake-provider.ts'
import { startFakeTwitter } from '../support/providers/fake-twitter.ts'
import { type App, build } from '../support/server.ts'

suite('client credentials of providers', () => {
  const setUp = shareServer()

  for (const name of providerNames) {
    test(`${name}: sends its configured id, secret and redirect URI`, async () => {
      const { fake, signIn } = await setUp(name)
      const outcome = await signIn()
      assert.ok(isSignedIn(outcome) || isUnverified(outcome), outcome.toString())
      assert.deepEqual(fake.deviations, [])
    })

    test(`${name}: fails with an unregistered secret`, async () => {
      const { fake, signIn } = await setUp(name)
      fake.registered.secret = 'another secret'
      await assertRejected(signIn)
      assert.notDeepEqual(fake.deviations, [])
    })

    test(`${name}: fails with an unregistered redirect URI`, async () => {
      const { fake, signIn } = await setUp(name)
      fake.registered.redirectUri = 'https://elsewhere.test/callback'
      await assertRejected(signIn)
      assert.notDeepEqual(fake.deviations, [])
    })
  }
})

/** Called in a suite: one server for all tests; each begins without users, and with a provider that has no deviations. */
function shareServer() {
  const server = shareServers(startServer)

  return async (name: ProviderName) => {
    const { app, fakes } = await server()
    const fake = fakes.get(name) ?? assert.fail(name)
    Object.assign(fake.registered, registration(name))
    fake.deviations.length = 0
    await app.pool.query('delete from auth.users')
    return { fake, signIn: () => signInWith(app, name) }
  }
}

async function startServer(t: Ending) {
  const fakes = new Map<ProviderName, Fake>()
  for (const name of providerNames) fakes.set(name, await startFake(t, name, registration(name)))
  const env = Object.fromEntries(
    [...fakes].flatMap(([name, { origin }]) => Object.entries(variables(name, origin))),
  )
  const { app } = await build(t, { dev: true, env })
  return { app, fakes }
}

const registration = (name: ProviderName): Registration => ({
  id: `id of ${name}`,
  secret: `${name}:s/+cret`,
  redirectUri: `http://${name.replaceAll('_', '-')}.test/callback`,
})

function variables(name: ProviderName, url: string): Record<string, string> {
  const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
  const { id, secret, redirectUri } = registration(name)
  return {
    [`${prefix}_ENABLED`]: 'true',
    [`${prefix}_CLIENT_ID`]: id,
    [`${prefix}_SECRET`]: secret,
    [`${prefix}_REDIRECT_URI`]: redirectUri,
    [`${prefix}_URL`]: url,
  }
}

/** From /authorize to the provider and back to /callback: the fragment that the site gets. */
async function signInWith(app: App, name: ProviderName): Promise<URLSearchParams> {
  const sent = await app.inject(`/authorize?provider=${name}`)
  assert.equal(sent.statusCode, 302, sent.body)
  const { redirectUri } = registration(name)
  const fields = await followAuthorization(String(sent.headers.location), redirectUri)
  const payload = new URLSearchParams(fields).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const back =
    name === 'apple'
      ? await app.inject({ method: 'POST', url: '/callback', headers, payload })
      : await app.inject(`/callback?${payload}`)
  return new URLSearchParams(new URL(String(back.headers.location)).hash.slice(1))
}

type Fake = Awaited<ReturnType<typeof startFake>>

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
