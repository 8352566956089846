import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import { jwtVerify } from 'jose'

import { createProvider } from '../../providers/registry.ts'
import { createAppleSecret } from '../../providers/vendors/apple-secret.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { client, startFakeProvider } from '../support/providers/fake-provider.ts'
import { settingsOf, upstreamOf } from '../support/providers/settings.ts'

const now = new Date('2026-02-03T04:05:06Z')
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const made = { secret: undefined, teamId: 'TEAM', keyId: 'KEY', privateKey: pem }

suite("Apple's client secret", () => {
  for (const [title, key] of [
    ['with line ends', pem],
    ['with written line ends', pem.replaceAll('\n', '\\n')],
  ] as const) {
    test(`made from a key ${title}`, async () => {
      const secret = await createAppleSecret(settingsOf({ ...made, privateKey: key }))(now)

      const { payload, protectedHeader } = await jwtVerify(secret, publicKey, { currentDate: now })
      assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'KEY' })
      const seconds = now.getTime() / 1000
      assert.deepEqual(payload, {
        ...{ iss: 'TEAM', sub: client.id, aud: 'https://appleid.apple.com' },
        ...{ iat: seconds, exp: seconds + 300 },
      })
    })
  }

  test('a ready one is used as it is', async () => {
    assert.equal(await createAppleSecret(settingsOf({ ...made, secret: 'ready' }))(now), 'ready')
  })

  test('half a configuration, and a key that is none', async () => {
    for (const changes of [{ keyId: undefined }, { privateKey: 'nonsense' }]) {
      const secret = createAppleSecret(settingsOf({ ...made, ...changes }))(now)
      await assert.rejects(secret, { kind: 'configuration' })
    }
  })
})

suite("Apple's form", () => {
  const forms: [string, string, string | undefined][] = [
    ['without user, as at every later sign-in', '', undefined],
    ['with half a name', '{"name":{"firstName":"Ann"}}', 'Ann'],
    ['with nothing in it', '{}', undefined],
  ]
  for (const [title, posted, name] of forms) {
    test(title, async (t) => {
      const { provider } = await start(t, posted)
      const { claims } = await provider.identity(await visit(provider, { scopes: ['more'] }))
      assert.equal(claims.name, name)
      assert.equal(claims.email, 'ann@ex.test')
    })
  }

  test('that is not JSON', async (t) => {
    const { provider } = await start(t, '{oops')
    await assert.rejects(provider.identity(await visit(provider)), { kind: 'user_form' })
  })
})

async function start(t: Parameters<typeof startFakeProvider>[0], posted: string) {
  const documented = cases.apple?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, { ...documented, posted })
  const provider = createProvider('apple', settingsOf({ url: fake.origin }), upstreamOf())
  assert.ok(provider)
  return { provider }
}
