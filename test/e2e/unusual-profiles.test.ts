/** Undocumented profiles and their stored rows: values that can be omitted do not prevent a sign-in. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { externalServer, providerEnv } from '../support/external.ts'
import { followAuthorization } from '../support/providers/browser.ts'
import { cases } from '../support/providers/documented.ts'
import { startFakeProvider } from '../support/providers/fake-provider.ts'

suite('unusual profile', () => {
  test('is stored without unstorable values and signs in', async (t) => {
    const { signIn, findMetadata } = await start(t)
    const nested = `${'['.repeat(5000)}1${']'.repeat(5000)}`
    const odd: [string, string, Record<string, unknown>][] = [
      ['half an emoji', `"name":"Ann \\ud83d"`, { name: 'Ann \ufffd' }],
      [
        'NUL',
        `"name":"A\\u0000nn","a\\u0000b":"c\\u0000"`,
        { name: 'Ann', custom_claims: { ab: 'c' } },
      ],
      ['nothing but NUL', `"name":"\\u0000"`, {}],
      ['5,000 levels', `"name":"Ann","deep":${nested},"flat":1`, { name: 'Ann' }],
      ['a key that is a trap', `"__proto__":{"email":"evil@ex.test"}`, {}],
      ['a number without end', `"name":"Ann","big":1e999`, { name: 'Ann' }],
    ]
    for (const [index, [title, fields, expected]] of odd.entries()) {
      const email = `odd${index}@ex.test`
      const seen = await signIn(
        `{"sub":"k${index}","email":"${email}","email_verified":true,${fields}}`,
      )
      assert.ok(seen.get('access_token'), `${title}: ${seen}`)
      const metadata = await findMetadata(email)
      for (const [claim, value] of Object.entries(expected)) {
        assert.deepEqual(metadata[claim], value, title)
      }
    }
    const depth = JSON.stringify(await findMetadata('odd3@ex.test')).split('[').length - 1
    assert.ok(depth > 20 && depth <= 32, `${depth} levels`)
  })

  test('rejects a profile whose sanitized id is that of another identity', async (t) => {
    const { signIn } = await start(t)
    const address = `"email":"ann@ex.test","email_verified":true`
    assert.ok((await signIn(`{"sub":"k1",${address}}`)).get('access_token'))
    const rejected = [
      `{"sub":"k\\u00001",${address}}`,
      `{"sub":"k1\\ud83d",${address}}`,
      `{"sub":"${'k'.repeat(5000)}",${address}}`,
      `{"sub":"k2","email":"ann\\u0000@ex.test","email_verified":true}`,
      `{"sub":"k3","email":"ann@ex.test\\ud83d","email_verified":true}`,
    ]
    for (const body of rejected) {
      const seen = await signIn(body)
      assert.equal(seen.get('access_token'), null)
      assert.ok(seen.get('error'), seen.toString())
    }
  })

  test('accepts a profile with an oversized email when no email is needed', async (t) => {
    const { signIn } = await start(t, { AUTH_EXTERNAL_KEYCLOAK_EMAIL_OPTIONAL: 'true' })
    const email = `${randomBytes(4000).toString('hex')}@ex.test`
    const seen = await signIn(JSON.stringify({ sub: 'k1', email, email_verified: true }))
    assert.ok(seen.get('access_token'), seen.toString())
  })

  test('truncates a profile with 391 groups to a token that fits a header', async (t) => {
    const { app, signIn, findMetadata } = await start(t)
    const groups = Array.from({ length: 391 }, () => crypto.randomUUID())
    const seen = await signIn(
      JSON.stringify({
        sub: 'k1',
        name: 'Ann',
        email: 'ann@ex.test',
        email_verified: true,
        groups,
        tid: 'tenant',
        roles: ['reader'],
      }),
    )
    const token = seen.get('access_token') ?? ''
    assert.ok(token.length > 0 && token.length <= 16_384, `${token.length} characters`)
    const { name, custom_claims } = await findMetadata('ann@ex.test')
    assert.deepEqual([name, custom_claims], ['Ann', { tid: 'tenant', roles: ['reader'] }])
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await app.inject({ url: '/user', headers })).statusCode, 200)
  })
})

/** A server with Keycloak, which returns any user data it is given. */
async function start(t: TestContext, more: Record<string, string> = {}) {
  const documented = cases.keycloak?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, documented)
  const { app } = await externalServer(t, {
    env: { ...providerEnv('keycloak', fake.origin), ...more },
  })

  /** The fragment or query that the browser ends with. */
  async function signIn(body: string): Promise<URLSearchParams> {
    fake.instead.set('/protocol/openid-connect/userinfo', { body })
    const sent = await app.inject('/authorize?provider=keycloak')
    const fields = new URLSearchParams(await followAuthorization(String(sent.headers.location)))
    const back = await app.inject(`/callback?${fields}`)
    assert.equal(back.statusCode, 302, back.body)
    return new URLSearchParams(new URL(String(back.headers.location)).hash.slice(1))
  }

  async function findMetadata(email: string): Promise<Record<string, unknown>> {
    const row = await app.db
      .selectFrom('users')
      .select('raw_user_meta_data')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    return { ...row.raw_user_meta_data }
  }
  return { app, signIn, findMetadata }
}
