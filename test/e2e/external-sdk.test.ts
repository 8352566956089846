/** External sign-in by the published client SDK. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthClient } from '@supabase/auth-js'

import { describe, externalServer, type ProviderUser } from '../support/external.ts'
import { cases } from '../support/providers/documented.ts'
import { client as registered, startFakeProvider } from '../support/providers/fake-provider.ts'
import { signIdToken } from '../support/providers/keys.ts'

const ann: ProviderUser = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }
const other: ProviderUser = { id: '43', emails: [{ email: 'ann@work.test', verified: true }] }

suite('external sign-in by SDK', () => {
  test('signInWithOAuth, exchangeCodeForSession, linkIdentity, unlinkIdentity', async (t) => {
    const { client, visit, server } = await start(t)
    describe(server.fakes, 'github', ann)
    describe(server.fakes, 'gitlab', other)

    const started = await client.signInWithOAuth({
      provider: 'github',
      options: { skipBrowserRedirect: true, scopes: 'repo' },
    })
    assert.equal(started.error, null)
    const signedIn = await client.exchangeCodeForSession(await visit(started.data.url))
    assert.equal(signedIn.error, null)
    assert.equal(signedIn.data.session?.provider_token, 'at1')
    assert.equal(signedIn.data.session?.provider_refresh_token, 'rt1')
    assert.equal(signedIn.data.user?.email, 'ann@ex.test')
    assert.equal(signedIn.data.user?.app_metadata.provider, 'github')

    const linking = await client.linkIdentity({
      provider: 'gitlab',
      options: { skipBrowserRedirect: true },
    })
    assert.equal(linking.error, null)
    const linked = await client.exchangeCodeForSession(await visit(linking.data.url))
    assert.equal(linked.error, null)
    assert.equal(linked.data.user?.id, signedIn.data.user?.id)

    const listed = await client.getUserIdentities()
    assert.deepEqual(
      listed.data?.identities.map(({ provider }) => provider),
      ['github', 'gitlab'],
    )
    const identity = listed.data?.identities[1]
    assert.ok(identity)
    assert.equal((await client.unlinkIdentity(identity)).error, null)
    const [rest] = (await client.getUserIdentities()).data?.identities ?? []
    assert.ok(rest)
    const last = await client.unlinkIdentity(rest)
    assert.equal(last.error?.code, 'single_identity_not_deletable')
  })

  test('signInWithIdToken, and linkIdentity by an id_token', async (t) => {
    const { client, issuer } = await start(t)
    const claims = { aud: registered.id, sub: 'k-1', email: 'kim@ex.test', email_verified: true }
    const token = await signIdToken({ iss: issuer, ...claims }, new Date())

    const malformed = await client.signInWithIdToken({ provider: 'keycloak', token: 'no.jwt' })
    assert.match(malformed.error?.message ?? '', /Bad ID token/)
    const disabled = await client.signInWithIdToken({ provider: 'google', token })
    assert.match(disabled.error?.message ?? '', /not enabled/)

    const guest = await client.signInAnonymously()
    assert.equal(guest.error, null)
    const linked = await client.linkIdentity({ provider: 'keycloak', token })
    assert.equal(linked.error, null)
    assert.equal(linked.data.user?.id, guest.data.user?.id)
    assert.equal(linked.data.user?.is_anonymous, false)
    assert.equal(linked.data.user?.email, 'kim@ex.test')

    const again = await client.signInWithIdToken({ provider: 'keycloak', token })
    assert.equal(again.error, null)
    assert.equal(again.data.user?.id, guest.data.user?.id)
  })
})

async function start(t: TestContext) {
  const documented = cases.google?.documented
  assert.ok(documented)
  const { issuer } = await startFakeProvider(t, documented)
  const env = {
    AUTH_EXTERNAL_KEYCLOAK_ENABLED: 'true',
    AUTH_EXTERNAL_KEYCLOAK_URL: issuer,
    AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID: registered.id,
    AUTH_EXTERNAL_KEYCLOAK_ID_TOKEN_ONLY: 'true',
    AUTH_EXTERNAL_KEYCLOAK_REDIRECT_URI: registered.redirectUri,
  }
  const server = await externalServer(t, { dev: true, env })
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const client = new AuthClient({
    url,
    flowType: 'pkce',
    autoRefreshToken: false,
    persistSession: true,
    storage: memory(),
  })

  /** The browser: to the provider, back to the server, and to the site with a code. */
  async function visit(started: string): Promise<string> {
    const toProvider = new URL(started).origin === url ? await fetchRedirect(started) : started
    const back = await fetchRedirect(withoutTarget(toProvider))
    const toSite = await fetchRedirect(`${url}/callback${new URL(back).search}`)
    const code = new URL(toSite).searchParams.get('code')
    assert.ok(code, toSite)
    return code
  }
  return { client, visit, server, issuer }
}

/** The fake provider accepts its documented parameters only. */
function withoutTarget(address: string): string {
  const url = new URL(address)
  url.searchParams.set('scope', url.searchParams.get('scope')?.split(' ')[0] ?? '')
  for (const name of ['redirect_to', 'skip_http_redirect']) url.searchParams.delete(name)
  return url.href
}

async function fetchRedirect(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'manual' })
  assert.equal(response.status, 302, await response.text())
  return response.headers.get('location') ?? ''
}

function memory() {
  const items = new Map<string, string>()
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}
