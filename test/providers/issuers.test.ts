/** The cache of discovery documents and keys. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { discoveredEndpoints } from '../../providers/issuers.ts'
import { verifyIdToken } from '../../providers/oidc.ts'
import { createUpstream } from '../../providers/upstream.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import { foreign, signIdToken, signing } from '../support/providers/keys.ts'

const iss = 'https://op.test'
const start = new Date('2026-02-03T04:05:06Z')

suite('discovery', () => {
  test('asked once for many sign-ins, and again after its lifetime', async () => {
    const { issuer, verifyAt } = open()
    await Promise.all([verifyAt(0), verifyAt(0), verifyAt(0)])
    await verifyAt(3599)
    assert.equal(issuer.state.asked.length, 2)
    await verifyAt(3600)
    assert.equal(issuer.state.asked.length, 4)
  })

  test('an old copy serves on while the issuer is down, which is asked again at intervals', async () => {
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

  test('a failure is not remembered', async () => {
    const { issuer, verifyAt } = open()
    issuer.state.down = true
    await assert.rejects(verifyAt(0), { kind: 'discovery' })
    issuer.state.down = false
    await verifyAt(1)
  })

  test('an unknown key id fetches the keys again, but not at every token', async () => {
    const { issuer, verifyAt } = open()
    await verifyAt(0)
    const rotated = { ...foreign, kid: 'key-2' }
    const renewed = { ...foreign.jwk, kid: 'key-2' }
    await assert.rejects(verifyAt(10, rotated), { kind: 'id_token' })
    issuer.state.keys = [renewed]
    await verifyAt(31, rotated)
    const asked = issuer.state.asked.length
    for (let second = 32; second < 60; second++) await assert.rejects(verifyAt(second))
    assert.equal(issuer.state.asked.length, asked)
  })

  const rotations: Record<string, string | undefined> = {
    'the id of the one before': 'key-1',
    'no id': undefined,
  }
  for (const [title, kid] of Object.entries(rotations)) {
    test(`a new key with ${title} is fetched at its first token`, async () => {
      const { issuer, verifyAt } = open()
      const published = (key: typeof signing) => ({ ...key.jwk, kid })
      issuer.state.keys = [published(signing)]
      await verifyAt(0, { ...signing, kid })
      issuer.state.keys = [published(foreign)]
      await verifyAt(31, { ...foreign, kid })
      const asked = issuer.state.asked.length
      for (let second = 32; second < 60; second++) {
        await assert.rejects(verifyAt(second, { ...signing, kid }), { kind: 'id_token' })
      }
      assert.equal(issuer.state.asked.length, asked)
    })
  }

  const broken: Record<string, object | string> = {
    'a page': '<h1>Maintenance</h1>',
    'cut off': '{"issuer":"https://op.test","jwks_u',
    'another issuer': { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' },
    'without keys': { jwks_uri: undefined },
    'keys at an address that is none': { jwks_uri: 'javascript:alert(1)' },
    'without the endpoints there were': { authorization_endpoint: '', token_endpoint: null },
  }
  for (const [title, changes] of Object.entries(broken)) {
    test(`a document that is ${title} does not take the place of a good one`, async () => {
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
    'no list of keys': [],
    'keys of no kind': [{ kid: 'key-1' }, null],
    'a secret': [{ kty: 'oct', kid: 'key-1', k: 'c2VjcmV0' }],
  }
  for (const [title, keys] of Object.entries(spoiled)) {
    test(`${title}: the keys before serve on`, async () => {
      const { issuer, verifyAt } = open()
      await verifyAt(0)
      issuer.state.keys = keys
      await verifyAt(4000)
      await assert.rejects(verifyAt(4031, { ...foreign, kid: 'key-2' }), { kind: 'id_token' })
      await verifyAt(4032)
    })
  }

  test('an odd key does not spoil the others', async () => {
    const { issuer, verifyAt } = open()
    const odd = [
      ...[
        null,
        'key',
        7,
        [],
        {},
        { kty: 'XYZ', kid: 'new' },
        { kty: 'RSA', kid: 'half', e: 'AQAB' },
      ],
      ...[
        { kty: 'EC', crv: 'P-999', x: 'x', y: 'y' },
        { kty: 'oct', kid: 'key-1', k: 'c2VjcmV0' },
      ],
    ]
    issuer.state.keys = [...odd, signing.jwk]
    await verifyAt(0)
  })

  test('two keys of one id: whichever has signed', async () => {
    const { issuer, verifyAt } = open()
    issuer.state.keys = [foreign.jwk, signing.jwk]
    await verifyAt(0)
    issuer.state.keys = [foreign.jwk, { ...foreign.jwk }]
    await assert.rejects(verifyAt(4000), { kind: 'id_token' })
  })

  test('a document that one has accepted is none for whoever accepts others', async () => {
    const { issuers } = createUpstream({
      ...{ fetch: fakeIssuer().fetch, timeoutMs: 1000, discoverySeconds: 3600 },
    })
    assert.equal((await issuers.metadata(iss, () => true, start)).issuer, iss)
    await assert.rejects(
      issuers.metadata(iss, (named) => named !== iss, start),
      { kind: 'discovery' },
    )
  })

  test('a silent issuer keeps nobody waiting who can be served from an old copy', async () => {
    const { issuer, verifyAt, endpointsAt } = open()
    await verifyAt(0)
    issuer.state.silent = true
    // It never answers: whoever waited for it would wait for ever.
    assert.equal((await endpointsAt(4000)).authorize, `${iss}/authorize`)
    await verifyAt(4000)
  })
})

function open() {
  const issuer = fakeIssuer()
  const { issuers } = createUpstream({
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
  /** As the browser is sent on, which waits for nothing that is known. */
  async function endpointsAt(second: number) {
    const now = new Date(start.getTime() + second * 1000)
    return discoveredEndpoints(issuers, iss, (claimed) => claimed === iss)(now, 0)
  }
  return { issuer, verifyAt, endpointsAt }
}
