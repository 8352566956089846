/** Nonce (OpenID Connect Core §3.1.2.1) and authorized party (azp) of an id_token. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { ProviderSettings } from '../../providers/core/types.ts'
import { createOauthProvider } from '../../providers/registry.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { client, startFakeProvider } from '../support/providers/fake-provider.ts'
import { attempt, sha256, token } from '../support/providers/id-tokens.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'
import { providerError } from '../support/providers/sign-in.ts'

const own = 'n-of-the-app'

interface Flow {
  /** Sent by the client with the request. */
  nonce?: string
  /** Overridden claims of the id_token. */
  claims?: Record<string, unknown>
  settings?: Partial<ProviderSettings>
}

suite('callback nonce', () => {
  for (const name of ['acme', 'apple', 'azure', 'google', 'slack_oidc']) {
    test(`${name}: sends, stores and compares the client’s nonce`, async (t) => {
      const { secrets, sentOn, signedIn } = await runJourney(t, name, { nonce: own })
      assert.deepEqual([secrets.nonce, sentOn], [own, own])
      assert.ok((await signedIn).providerId)
      for (const nonce of ['another', '', undefined]) {
        const wrong = await runJourney(t, name, { nonce: own, claims: { nonce } })
        assert.equal((await providerError(wrong.signedIn)).kind, 'id_token')
      }
    })
  }

  for (const name of ['linkedin_oidc', 'vercel_marketplace']) {
    test(`${name}: accepts a missing nonce and rejects a different one`, async (t) => {
      const { secrets, sentOn, signedIn } = await runJourney(t, name, { nonce: own })
      assert.deepEqual([secrets.nonce, sentOn], [own, own])
      assert.ok((await signedIn).providerId)
      const unknown = await runJourney(t, name, { nonce: own, claims: { nonce: undefined } })
      assert.ok((await unknown.signedIn).providerId)
      for (const nonce of [own, undefined]) {
        const wrong = await runJourney(t, name, {
          ...(nonce && { nonce }),
          claims: { nonce: 'another' },
        })
        assert.equal((await providerError(wrong.signedIn)).kind, 'id_token')
      }
    })
  }

  test('keycloak: reads the id_token when the client sent a nonce', async (t) => {
    const claims = { sub: 'k1' }
    const { signedIn } = await runJourney(t, 'keycloak', { nonce: own, claims })
    assert.equal((await signedIn).providerId, 'k1')
    const wrong = await runJourney(t, 'keycloak', {
      nonce: own,
      claims: { ...claims, nonce: 'another' },
    })
    assert.equal((await providerError(wrong.signedIn)).kind, 'id_token')
  })

  test('apple: may be missing when nonce_supported is false', async (t) => {
    for (const nonce_supported of [false, 'false']) {
      const claims = { nonce: undefined, nonce_supported }
      assert.ok((await (await runJourney(t, 'apple', { claims })).signedIn).providerId)
      const wrong = await runJourney(t, 'apple', { claims: { ...claims, nonce: 'another' } })
      assert.equal((await providerError(wrong.signedIn)).kind, 'id_token')
    }
    for (const nonce_supported of [true, 'true', undefined]) {
      const { signedIn } = await runJourney(t, 'apple', {
        claims: { nonce: undefined, nonce_supported },
      })
      assert.equal((await providerError(signedIn)).kind, 'id_token')
    }
  })

  test('is required from other providers despite nonce_supported', async (t) => {
    for (const name of ['acme', 'google']) {
      const claims = { nonce: undefined, nonce_supported: false }
      const { signedIn } = await runJourney(t, name, { claims })
      assert.equal((await providerError(signedIn)).kind, 'id_token')
    }
  })

  test('is called missing, with the setting that accepts it, when the token has none', async (t) => {
    const { signedIn } = await runJourney(t, 'acme', { claims: { nonce: undefined } })
    const { message } = await providerError(signedIn)
    assert.match(message, /nonce is missing.*skip_nonce_check.*_SKIP_NONCE_CHECK/)
    const wrong = await runJourney(t, 'acme', { claims: { nonce: 'another' } })
    assert.match((await providerError(wrong.signedIn)).message, /another nonce/)
  })

  test('AUTH_EXTERNAL_OIDC_<NAME>_SKIP_NONCE_CHECK accepts a missing nonce', async (t) => {
    const settings = { skipNonceCheck: true }
    const silent = await runJourney(t, 'acme', { settings, claims: { nonce: undefined } })
    assert.ok((await silent.signedIn).providerId)
    const wrong = await runJourney(t, 'acme', { settings, claims: { nonce: 'another' } })
    assert.equal((await providerError(wrong.signedIn)).kind, 'id_token')
  })
})

suite('authorized party', () => {
  const parties: [string, Record<string, unknown>, boolean][] = [
    ['is this server', { azp: client.id }, true],
    ['is another client', { azp: 'evil' }, false],
    ['is not a string', { azp: [client.id] }, false],
    ['is this server among two audiences', { aud: [client.id, 'api'], azp: client.id }, true],
    ['is the other audience', { aud: [client.id, 'api'], azp: 'api' }, false],
    ['is missing among two audiences', { aud: [client.id, 'api'] }, false],
  ]
  for (const [title, claims, isAccepted] of parties) {
    test(`authorized party of a callback ${title}`, async (t) => {
      const { signedIn } = await runJourney(t, 'google', { claims })
      if (isAccepted) assert.equal((await signedIn).providerId, '11')
      else assert.equal((await providerError(signedIn)).kind, 'id_token')
    })
  }

  test('rejects a callback token for another client id of the server', async (t) => {
    const settings = { clientIds: [client.id, 'second client'] }
    const claims = { aud: 'second client' }
    const { signedIn } = await runJourney(t, 'google', { settings, claims })
    assert.equal((await providerError(signedIn)).kind, 'id_token')
  })

  const brought: [string, Record<string, unknown>, boolean][] = [
    // Google Sign-In on Android: requested by the app for its server.
    ['is the app that requested it for the server', { azp: 'the android client' }, true],
    [
      'is a client id of the server among two audiences',
      { aud: [client.id, 'api'], azp: 'second client' },
      true,
    ],
    ['is another client among two audiences', { aud: [client.id, 'evil'], azp: 'evil' }, false],
  ]
  for (const [title, claims, isAccepted] of brought) {
    test(`authorized party of an app’s token ${title}`, async () => {
      const signedIn = attempt({ provider: 'google', idToken: await token(claims) })
      if (isAccepted) assert.equal((await signedIn).identity.providerId, 'sub-1')
      else await assert.rejects(signedIn, { kind: 'invalid_request', message: /authorized party/ })
    })
  }
})

test('verifies at_hash with the access token of the callback', async (t) => {
  const { signedIn } = await runJourney(t, 'google', { claims: { at_hash: 'of-another-token' } })
  const { kind, message } = await providerError(signedIn)
  assert.equal(kind, 'id_token')
  assert.match(message, /at_hash/)
})

test('names what lacks the nonce of an app’s token: the token or the request', async () => {
  const google = { provider: 'google' }
  const bare = attempt({ ...google, nonce: own, idToken: await token({ nonce: undefined }) })
  await assert.rejects(bare, {
    kind: 'invalid_request',
    message: /ID token has no nonce.*skip_nonce_check/,
  })
  const unsent = attempt({ ...google, idToken: await token({ nonce: sha256(own) }) })
  await assert.rejects(unsent, { kind: 'invalid_request', message: /request has no nonce/ })
})

test('accepts an app’s token without nonce when Apple did not support it', async () => {
  const iss = 'https://appleid.apple.com'
  const requested = { provider: 'apple', nonce: own }
  const bring = async (claims: Record<string, unknown>) =>
    attempt({ ...requested, idToken: await token({ iss, ...claims }) })
  assert.equal((await bring({ nonce_supported: false })).identity.providerId, 'sub-1')
  assert.ok((await bring({ nonce: sha256(own), nonce_supported: true })).identity)
  await assert.rejects(bring({ nonce_supported: true }), { kind: 'invalid_request' })
  await assert.rejects(bring({ nonce: 'x', nonce_supported: false }), { kind: 'invalid_nonce' })
})

/** Through the provider and back; `signedIn` is the result. */
async function runJourney(t: TestContext, name: string, { nonce, claims, settings }: Flow) {
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
  const provider = createOauthProvider(
    name,
    fakeProviderSettings({ ...address, ...settings }),
    createUpstream(),
  )
  assert.ok(provider)
  let sentOn: string | null = null
  const rewriteUrl = (url: string) => {
    sentOn = new URL(url).searchParams.get('nonce')
    return url
  }
  const callback = await visit(provider, {
    params: nonce === undefined ? {} : { nonce },
    rewriteUrl,
  })
  const signedIn = provider.identity(callback)
  // The caller may look at something else first.
  signedIn.catch(() => {})
  return { secrets: callback.secrets, sentOn, signedIn }
}
