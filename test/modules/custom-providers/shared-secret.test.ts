/** ID tokens that a provider signs with the client secret (HS256), as LINE does. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  add,
  authorizeUrl,
  customOnLoopback,
  emptied,
  finishSignIn,
  oauth2Input,
  oidcInput,
  send,
} from '../../support/custom-providers/requests.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { followAuthorization } from '../../support/providers/browser.ts'
import { client, ownRedirectUri, startFakeProvider } from '../../support/providers/fake-provider.ts'
import { foreign, signByHs256, signIdToken } from '../../support/providers/keys.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'

const secret = 'a client secret of 32 characters'
const redirectUri = ownRedirectUri('custom:acme')
const registered = { ...client, secret, redirectUri }
const account = { sub: 'u1', email: 'ann@ex.test', email_verified: true }

const documented = {
  authorize: '/authorize',
  scope: 'openid email profile',
  pkce: true,
  nonce: true,
  token: '/token',
  clientAuth: 'basic' as const,
  https: true,
  idToken: { issuer: '', claims: account, signed: 'by the client secret' as const },
  api: {},
}

const hs256 = { client_secret: secret, id_token_signed_response_alg: 'HS256' }

suite('ID tokens signed with the client secret', () => {
  const servers = shareServers((ending) => build(ending, customOnLoopback))

  async function withFake(t: TestContext) {
    const fake = await startFakeProvider(t, documented, undefined, registered)
    return { fake, ...(await emptied(await servers())) }
  }

  async function signInOnce(app: Awaited<ReturnType<typeof withFake>>['app']) {
    const { href } = await authorizeUrl(app, 'custom:acme')
    return finishSignIn(app, await followAuthorization(href, redirectUri))
  }

  test('sign in at a provider that is configured so, and at no other', async (t) => {
    const { app, fake } = await withFake(t)
    const added = await add(app, oidcInput(fake.issuer, { client_secret: secret }))
    assert.equal(added.id_token_signed_response_alg, undefined)
    assert.equal((await signInOnce(app)).error_code, 'unexpected_failure')
    const changed = await send(app, 'PUT', '/custom:acme', hs256)
    assert.equal(changed.json().id_token_signed_response_alg, 'HS256')
    assert.ok((await signInOnce(app)).access_token)
    await send(app, 'PUT', '/custom:acme', { id_token_signed_response_alg: '' })
    assert.equal((await signInOnce(app)).error_code, 'unexpected_failure')
    assert.deepEqual(fake.deviations, [])
  })

  test('are accepted from apps for the client of the secret only, besides published keys', async (t) => {
    const { app, fake } = await withFake(t)
    const { issuer: iss } = fake
    await add(app, oidcInput(iss, { ...hs256, acceptable_client_ids: ['native'] }))
    const claims = { ...account, iss, aud: client.id }
    const now = new Date()
    const published = JSON.stringify(foreign.jwk)
    const pem = foreign.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const none = `${encode({ alg: 'none' })}.${encode({ ...claims, exp: now.getTime() })}.`
    const tokens: [string, number, string][] = [
      ['of the secret', 200, await signByHs256(claims, secret)],
      ['of a published key', 200, await signIdToken(claims, now)],
      [
        'of a published key for another app',
        200,
        await signIdToken({ ...claims, aud: 'native' }, now),
      ],
      [
        'of the secret for another app',
        400,
        await signByHs256({ ...claims, aud: 'native' }, secret),
      ],
      ['of another secret', 400, await signByHs256(claims, `${secret}!`)],
      ['of the public key as secret', 400, await signByHs256(claims, published)],
      ['of the public key as PEM', 400, await signByHs256(claims, pem)],
      ['of another issuer', 400, await signByHs256({ ...claims, iss: `${iss}/x` }, secret)],
      ['without a signature', 400, none],
    ]
    for (const [title, status, id_token] of tokens) {
      const body = { provider: 'custom:acme', id_token }
      const response = await call(app, '/token?grant_type=id_token', body)
      assert.equal(response.statusCode, status, `${title}: ${response.body}`)
    }
  })

  test('need a secret of 32 bytes and an OpenID provider', async (t) => {
    const { app, fake } = await withFake(t)
    const rejected = [
      oidcInput(fake.issuer, { ...hs256, client_secret: 'x'.repeat(31) }),
      oidcInput(fake.issuer, { ...hs256, id_token_signed_response_alg: 'none' }),
      oauth2Input(fake.origin, { ...hs256, identifier: 'custom:acme' }),
    ]
    for (const input of rejected) {
      const response = await send(app, 'POST', '', input)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], JSON.stringify(input))
    }
    await add(app, oidcInput(fake.issuer, hs256))
    const shortened = await send(app, 'PUT', '/custom:acme', { client_secret: 'short' })
    assert.deepEqual(statusAndCode(shortened), [400, 'validation_failed'])
    assert.ok((await signInOnce(app)).access_token)
  })
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
