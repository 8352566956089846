/** The cache of discovery documents and keys. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

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
})

function open() {
  const issuer = fakeIssuer()
  const { issuers } = createUpstream({
    fetch: issuer.fetch,
    timeoutMs: 1000,
    discoverySeconds: 3600,
  })
  async function verifyAt(second: number, key = signing) {
    const now = new Date(start.getTime() + second * 1000)
    const token = await signIdToken({ iss, aud: 'app', sub: 's' }, now, key)
    const accepts = (claimed: string) => claimed === iss
    return verifyIdToken(issuers, token, { accepts, audiences: ['app'], now })
  }
  return { issuer, verifyAt }
}
