/** The cache of discovery documents and keys. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { discoveredEndpoints } from '../../providers/oidc/issuers.ts'
import { verifyIdToken } from '../../providers/oidc/verify-id-token.ts'
import { createProviderHttp } from '../../providers/provider-http.ts'
import { isSameUri } from '../../schemas/values/uris.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import { foreign, signIdToken, signing } from '../support/providers/keys.ts'

const iss = 'https://op.test'
const start = new Date('2026-02-03T04:05:06Z')

suite('discovery', () => {
  test('is fetched once for several sign-ins, and again when it expires', async () => {
    const { issuer, verifyAt } = open()
    await Promise.all([verifyAt(0), verifyAt(0), verifyAt(0)])
    await verifyAt(3599)
    assert.equal(issuer.state.asked.length, 2)
    await verifyAt(3600)
    assert.equal(issuer.state.asked.length, 4)
  })

  test('is fetched once for an issuer, however tokens write it', async () => {
    const { issuer, issuers } = open()
    const written = [
      iss,
      `${iss}/`,
      `${iss}/./`,
      `${iss}/a/..`,
      `${iss}/%2e`,
      'https://OP.test:443',
    ]
    for (const one of written) {
      const token = await signIdToken({ iss: one, aud: 'app', sub: 's' }, start, signing)
      const accepts = (claimed: string) => isSameUri(claimed, iss)
      await verifyIdToken(issuers, token, { accepts, audiences: ['app'], now: start })
    }
    assert.deepEqual(issuer.state.asked, [`${iss}/.well-known/openid-configuration`, `${iss}/jwks`])
  })

  test('uses the cached document while the issuer is down, and retries at intervals', async () => {
    const { issuer, verifyAt } = open()
    await verifyAt(0)
    issuer.state.down = true
    await verifyAt(4000)
    await verifyAt(4010)
    assert.equal(issuer.state.asked.length, 4)
    await verifyAt(4030)
    assert.equal(issuer.state.asked.length, 6)
    issuer.state.down = false
    await verifyAt(4060)
    await verifyAt(4061)
    assert.equal(issuer.state.asked.length, 8)
  })

  test('does not cache a failure', async () => {
    const { issuer, verifyAt } = open()
    issuer.state.down = true
    await assert.rejects(verifyAt(0), { kind: 'discovery' })
    issuer.state.down = false
    await verifyAt(1)
  })

  test('fetches keys again for an unknown key id at intervals', async () => {
    const { issuer, verifyAt } = open()
    await verifyAt(0)
    const rotated = { ...foreign, kid: 'key-2' }
    const renewed = { ...foreign.jwk, kid: 'key-2' }
    await assert.rejects(verifyAt(10, rotated), { kind: 'id_token' })
    issuer.state.keys = [renewed]
    await verifyAt(31, rotated)
    const requested = issuer.state.asked.length
    for (let second = 32; second < 60; second++) await assert.rejects(verifyAt(second))
    assert.equal(issuer.state.asked.length, requested)
  })

  const rotations: Record<string, string | undefined> = {
    'the previous id': 'key-1',
    'no id': undefined,
  }
  for (const [title, kid] of Object.entries(rotations)) {
    test(`accepts the first token of a new key with ${title}`, async () => {
      const { issuer, verifyAt } = open()
      const published = (key: typeof signing) => ({ ...key.jwk, kid })
      issuer.state.keys = [published(signing)]
      await verifyAt(0, { ...signing, kid })
      issuer.state.keys = [published(foreign)]
      await verifyAt(31, { ...foreign, kid })
      const requested = issuer.state.asked.length
      for (let second = 32; second < 60; second++) {
        await assert.rejects(verifyAt(second, { ...signing, kid }), { kind: 'id_token' })
      }
      assert.equal(issuer.state.asked.length, requested)
    })
  }

  const broken: Record<string, object | string> = {
    'an HTML page': '<h1>Maintenance</h1>',
    truncated: '{"issuer":"https://op.test","jwks_u',
    'of another issuer': { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' },
    'without jwks_uri': { jwks_uri: undefined },
    'with an invalid jwks_uri': { jwks_uri: 'javascript:alert(1)' },
    'without the previous endpoints': { authorization_endpoint: '', token_endpoint: null },
  }
  for (const [title, changes] of Object.entries(broken)) {
    test(`does not replace a valid document by one that is ${title}`, async () => {
      const { issuer, verifyAt, endpointsAt } = open()
      await verifyAt(0)
      issuer.state.changes = changes
      await verifyAt(4000)
      assert.equal((await endpointsAt(4001)).authorize, `${iss}/authorize`)
      issuer.state.changes = { authorization_endpoint: `${iss}/moved` }
      await verifyAt(4031)
      assert.equal((await endpointsAt(4032)).authorize, `${iss}/moved`)
    })
  }

  const spoiled: Record<string, unknown[]> = {
    'an empty key list': [],
    'invalid keys': [{ kid: 'key-1' }, null],
    'a symmetric key': [{ kty: 'oct', kid: 'key-1', k: 'c2VjcmV0' }],
  }
  for (const [title, keys] of Object.entries(spoiled)) {
    test(`keeps the cached keys on ${title}`, async () => {
      const { issuer, verifyAt } = open()
      await verifyAt(0)
      issuer.state.keys = keys
      await verifyAt(4000)
      await assert.rejects(verifyAt(4031, { ...foreign, kid: 'key-2' }), { kind: 'id_token' })
      await verifyAt(4032)
    })
  }

  test('ignores malformed keys', async () => {
    const { issuer, verifyAt } = open()
    const odd = [
      null,
      'key',
      7,
      [],
      {},
      { kty: 'XYZ', kid: 'new' },
      { kty: 'RSA', kid: 'half', e: 'AQAB' },
      { kty: 'EC', crv: 'P-999', x: 'x', y: 'y' },
      { kty: 'oct', kid: 'key-1', k: 'c2VjcmV0' },
    ]
    issuer.state.keys = [...odd, signing.jwk]
    await verifyAt(0)
  })

  test('tries each key with the same id', async () => {
    const { issuer, verifyAt } = open()
    issuer.state.keys = [foreign.jwk, signing.jwk]
    await verifyAt(0)
    issuer.state.keys = [foreign.jwk, { ...foreign.jwk }]
    await assert.rejects(verifyAt(4000), { kind: 'id_token' })
  })

  test('validates a cached document for each provider', async () => {
    const { issuers } = createProviderHttp({
      fetch: fakeIssuer().fetch,
      timeoutMs: 1000,
      discoverySeconds: 3600,
    })
    assert.equal((await issuers.metadata(iss, () => true, start)).issuer, iss)
    await assert.rejects(
      issuers.metadata(iss, (named) => named !== iss, start),
      { kind: 'discovery' },
    )
  })

  test('does not wait for a silent issuer when a cached document exists', async () => {
    const { issuer, verifyAt, endpointsAt } = open()
    await verifyAt(0)
    issuer.state.silent = true
    // It never responds, so waiting for it would hang.
    assert.equal((await endpointsAt(4000)).authorize, `${iss}/authorize`)
    await verifyAt(4000)
  })
})

function open() {
  const issuer = fakeIssuer()
  const { issuers } = createProviderHttp({
    fetch: issuer.fetch,
    timeoutMs: 1000,
    discoverySeconds: 3600,
  })
  async function verifyAt(second: number, key: Parameters<typeof signIdToken>[2] = signing) {
    const now = new Date(start.getTime() + second * 1000)
    const token = await signIdToken({ iss, aud: 'app', sub: 's' }, now, key)
    const accepts = (claimed: string) => claimed === iss
    return verifyIdToken(issuers, token, { accepts, audiences: ['app'], now })
  }
  /** As in a redirect, which does not wait for cached values. */
  async function endpointsAt(second: number) {
    const now = new Date(start.getTime() + second * 1000)
    return discoveredEndpoints(issuers, iss, (claimed) => claimed === iss)(now, 0)
  }
  return { issuer, issuers, verifyAt, endpointsAt }
}
