import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import { jwtVerify } from 'jose'

import { createOauthProvider } from '../../providers/registry.ts'
import { createAppleSecret } from '../../providers/vendors/apple.ts'
import { visit } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { client, startFakeProvider } from '../support/providers/fake-provider.ts'
import { createUpstream, fakeProviderSettings } from '../support/providers/settings.ts'

const now = new Date('2026-02-03T04:05:06Z')
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const made = { secret: undefined, teamId: 'TEAM', keyId: 'KEY', privateKey: pem }

suite('Apple client secret', () => {
  for (const [title, key] of [
    ['with line breaks', pem],
    ['with escaped line breaks', pem.replaceAll('\n', '\\n')],
  ] as const) {
    test(`is signed with a key ${title}`, async () => {
      const secret = await createAppleSecret(fakeProviderSettings({ ...made, privateKey: key }))(
        now,
      )

      const { payload, protectedHeader } = await jwtVerify(secret, publicKey, { currentDate: now })
      assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'KEY' })
      const seconds = now.getTime() / 1000
      assert.deepEqual(payload, {
        iss: 'TEAM',
        sub: client.id,
        aud: 'https://appleid.apple.com',
        iat: seconds,
        exp: seconds + 300,
      })
    })
  }

  test('is used as configured', async () => {
    assert.equal(
      await createAppleSecret(fakeProviderSettings({ ...made, secret: 'ready' }))(now),
      'ready',
    )
  })

  test('fails for an incomplete or invalid key', async () => {
    for (const changes of [{ keyId: undefined }, { privateKey: 'nonsense' }]) {
      const secret = createAppleSecret(fakeProviderSettings({ ...made, ...changes }))(now)
      await assert.rejects(secret, { kind: 'configuration' })
    }
  })
})

suite('Apple’s form post', () => {
  const forms: [string, string, string | undefined][] = [
    ['has no name without the user field, as at later sign-ins', '', undefined],
    ['has a partial name', '{"name":{"firstName":"Ann"}}', 'Ann'],
    ['has no name for an empty user', '{}', undefined],
  ]
  for (const [title, posted, name] of forms) {
    test(title, async (t) => {
      const { provider } = await start(t, posted)
      const { claims } = await provider.identity(await visit(provider, { scopes: ['more'] }))
      assert.equal(claims.name, name)
      assert.equal(claims.email, 'ann@ex.test')
    })
  }

  test('rejects malformed JSON', async (t) => {
    const { provider } = await start(t, '{oops')
    await assert.rejects(provider.identity(await visit(provider)), { kind: 'user_form' })
  })
})

async function start(t: Parameters<typeof startFakeProvider>[0], posted: string) {
  const documented = cases.apple?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, { ...documented, posted })
  const provider = createOauthProvider(
    'apple',
    fakeProviderSettings({ url: fake.origin }),
    createUpstream(),
  )
  assert.ok(provider)
  return { provider }
}
