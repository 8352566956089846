/** What an id_token of a callback must repeat (OpenID Connect Core §3.1.2.1 nonce), and whom it must be for (azp). */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { ProviderSettings } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { client, startFakeProvider } from '../support/providers/fake-provider.ts'
import { attempt, sha256, token } from '../support/providers/id-tokens.ts'
import { settingsOf, upstreamOf } from '../support/providers/settings.ts'
import { faultOf } from '../support/providers/sign-in.ts'

const own = 'n-of-the-app'

interface Flow {
  /** Sent by the client with the request. */
  nonce?: string
  /** What the id_token says otherwise. */
  claims?: Record<string, unknown>
  settings?: Partial<ProviderSettings>
}

suite('the nonce of a callback', () => {
  for (const name of ['acme', 'apple', 'azure', 'google', 'slack_oidc']) {
    test(`${name}: the one of the client is sent on, remembered and compared`, async (t) => {
      const { secrets, sentOn, signedIn } = await walk(t, name, { nonce: own })
      assert.deepEqual([secrets.nonce, sentOn], [own, own])
      assert.ok((await signedIn).providerId)
      for (const nonce of ['another', '', undefined]) {
        const wrong = await walk(t, name, { nonce: own, claims: { nonce } })
        assert.equal((await faultOf(wrong.signedIn)).kind, 'id_token')
      }
    })
  }

  for (const name of ['linkedin_oidc', 'vercel_marketplace']) {
    test(`${name} need not know of nonces, but none of another flow passes`, async (t) => {
      const { secrets, sentOn, signedIn } = await walk(t, name, { nonce: own })
      assert.deepEqual([secrets.nonce, sentOn], [own, own])
      assert.ok((await signedIn).providerId)
      const unknown = await walk(t, name, { nonce: own, claims: { nonce: undefined } })
      assert.ok((await unknown.signedIn).providerId)
      for (const nonce of [own, undefined]) {
        const wrong = await walk(t, name, { ...(nonce && { nonce }), claims: { nonce: 'another' } })
        assert.equal((await faultOf(wrong.signedIn)).kind, 'id_token')
      }
    })
  }

  test('keycloak: its id_token is read where the client has sent one', async (t) => {
    const claims = { sub: 'k1' }
    const { signedIn } = await walk(t, 'keycloak', { nonce: own, claims })
    assert.equal((await signedIn).providerId, 'k1')
    const wrong = await walk(t, 'keycloak', { nonce: own, claims: { ...claims, nonce: 'another' } })
    assert.equal((await faultOf(wrong.signedIn)).kind, 'id_token')
  })

  test('apple: may be missing where Apple says that it was not supported', async (t) => {
    for (const nonce_supported of [false, 'false']) {
      const claims = { nonce: undefined, nonce_supported }
      assert.ok((await (await walk(t, 'apple', { claims })).signedIn).providerId)
      const wrong = await walk(t, 'apple', { claims: { ...claims, nonce: 'another' } })
      assert.equal((await faultOf(wrong.signedIn)).kind, 'id_token')
    }
    for (const nonce_supported of [true, 'true', undefined]) {
      const { signedIn } = await walk(t, 'apple', { claims: { nonce: undefined, nonce_supported } })
      assert.equal((await faultOf(signedIn)).kind, 'id_token')
    }
  })

  test('nobody but Apple is asked whether it supports one', async (t) => {
    for (const name of ['acme', 'google']) {
      const claims = { nonce: undefined, nonce_supported: false }
      const { signedIn } = await walk(t, name, { claims })
      assert.equal((await faultOf(signedIn)).kind, 'id_token')
    }
  })

  test('AUTH_EXTERNAL_OIDC_<NAME>_SKIP_NONCE_CHECK: a provider that never repeats it', async (t) => {
    const settings = { skipNonceCheck: true }
    const silent = await walk(t, 'acme', { settings, claims: { nonce: undefined } })
    assert.ok((await silent.signedIn).providerId)
    const wrong = await walk(t, 'acme', { settings, claims: { nonce: 'another' } })
    assert.equal((await faultOf(wrong.signedIn)).kind, 'id_token')
  })
})

suite('the authorized party', () => {
  const parties: [string, Record<string, unknown>, boolean][] = [
    ['is this server', { azp: client.id }, true],
    ['is another client', { azp: 'evil' }, false],
    ['is no text', { azp: [client.id] }, false],
    ['is this server, one audience of two', { aud: [client.id, 'api'], azp: client.id }, true],
    ['is the other audience', { aud: [client.id, 'api'], azp: 'api' }, false],
    ['is missing among two audiences', { aud: [client.id, 'api'] }, false],
  ]
  for (const [title, claims, isAccepted] of parties) {
    test(`of a callback ${title}`, async (t) => {
      const { signedIn } = await walk(t, 'google', { claims })
      if (isAccepted) assert.equal((await signedIn).providerId, '11')
      else assert.equal((await faultOf(signedIn)).kind, 'id_token')
    })
  }

  test('of a callback is our first client: a token for another of ours is refused', async (t) => {
    const settings = { clientIds: [client.id, 'second client'] }
    const claims = { aud: 'second client' }
    const { signedIn } = await walk(t, 'google', { settings, claims })
    assert.equal((await faultOf(signedIn)).kind, 'id_token')
  })

  const brought: [string, Record<string, unknown>, boolean][] = [
    // Google Sign-In on Android: asked for by the app, made for its server.
    ['is the app that asked for its server', { azp: 'the android client' }, true],
    ['is one of ours, of two audiences', { aud: [client.id, 'api'], azp: 'second client' }, true],
    ['is none of ours, of two audiences', { aud: [client.id, 'evil'], azp: 'evil' }, false],
  ]
  for (const [title, claims, isAccepted] of brought) {
    test(`of a token that an app brings ${title}`, async () => {
      const signedIn = attempt({ provider: 'google', idToken: await token(claims) })
      if (isAccepted) assert.equal((await signedIn).identity.providerId, 'sub-1')
      else await assert.rejects(signedIn, { kind: 'invalid_request', message: /authorized party/ })
    })
  }
})

test('the at_hash of a callback is that of the access token beside it', async (t) => {
  const { signedIn } = await walk(t, 'google', { claims: { at_hash: 'of-another-token' } })
  const { kind, message } = await faultOf(signedIn)
  assert.equal(kind, 'id_token')
  assert.match(message, /at_hash/)
})

test('the nonce of a token that an app brings may be missing where Apple did not support it', async () => {
  const iss = 'https://appleid.apple.com'
  const asked = { provider: 'apple', nonce: own }
  const bring = async (claims: Record<string, unknown>) =>
    attempt({ ...asked, idToken: await token({ iss, ...claims }) })
  assert.equal((await bring({ nonce_supported: false })).identity.providerId, 'sub-1')
  assert.ok((await bring({ nonce: sha256(own), nonce_supported: true })).identity)
  await assert.rejects(bring({ nonce_supported: true }), { kind: 'invalid_request' })
  await assert.rejects(bring({ nonce: 'x', nonce_supported: false }), { kind: 'invalid_nonce' })
})

/** From us to the provider and back: `signedIn` is what comes of it. */
async function walk(t: TestContext, name: string, { nonce, claims, settings }: Flow) {
  // A provider of the operator's own behaves like Google here.
  const documented = cases[name === 'acme' ? 'google' : name]?.documented
  assert.ok(documented)
  const idToken = { issuer: '', ...documented.idToken }
  const fake = await startFakeProvider(t, {
    ...documented,
    nonce: nonce !== undefined || documented.nonce === true,
    idToken: { ...idToken, claims: { ...idToken.claims, ...claims } },
  })
  const address = name === 'acme' ? { issuer: fake.issuer } : { url: fake.origin }
  const provider = createProvider(name, settingsOf({ ...address, ...settings }), upstreamOf())
  assert.ok(provider)
  let sentOn: string | null = null
  const addressOf = (url: string) => {
    sentOn = new URL(url).searchParams.get('nonce')
    return url
  }
  const callback = await visit(provider, {
    params: nonce === undefined ? {} : { nonce },
    addressOf,
  })
  const signedIn = provider.identity(callback)
  // The caller may look at something else first.
  signedIn.catch(() => {})
  return { secrets: callback.secrets, sentOn, signedIn }
}
