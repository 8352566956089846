/** POST /token?grant_type=id_token: an id_token that an app got from the provider is exchanged for a session. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import type { JWTPayload } from 'jose'

import type { Session } from '../../../../schemas/session.ts'
import { cases } from '../../../support/providers/documented.ts'
import { client, startFakeProvider } from '../../../support/providers/fake-provider.ts'
import { foreign, signIdToken } from '../../../support/providers/keys.ts'
import { build } from '../../../support/server.ts'
import { confirmedUser, signedIn } from '../../../support/users.ts'

const email = 'ann@ex.test'
const claims = { aud: client.id, sub: 'ann-1', email, email_verified: true, name: 'Ann Lee' }

suite('POST /token with grant_type=id_token', () => {
  test('exchanges valid tokens and rejects invalid tokens', async (t) => {
    const { app, exchange, idToken, issuer } = await start(t)

    await t.test('returns a session without provider tokens', async () => {
      const response = await exchange({ id_token: await idToken({}) })
      assert.equal(response.statusCode, 200, response.body)
      const session = response.json<Session>()
      assert.equal(session.user.email, email)
      assert.deepEqual(session.user.app_metadata, { provider: 'acme', providers: ['acme'] })
      assert.equal(session.provider_token, undefined)
      const again = await exchange({ id_token: await idToken({}), provider: 'ACME' })
      assert.equal(again.json<Session>().user.id, session.user.id)
    })

    await t.test('creates the user in the requested audience', async () => {
      const id_token = await idToken({ sub: 'zoe-1', email: 'zoe@ex.test' })
      const response = await app.inject({
        method: 'POST',
        url: '/token?grant_type=id_token',
        headers: { 'x-jwt-aud': 'team' },
        payload: { provider: 'acme', id_token },
      })
      assert.equal(response.json<Session>().user.aud, 'team', response.body)
    })

    await t.test('verifies the nonce', async () => {
      const nonce = 'made by the app'
      const hashed = createHash('sha256').update(nonce).digest('hex')
      const right = await exchange({ id_token: await idToken({ nonce: hashed }), nonce })
      assert.equal(right.statusCode, 200, right.body)
      const wrong = await exchange({ id_token: await idToken({ nonce: hashed }), nonce: 'other' })
      assert.deepEqual(wrong.json(), {
        code: 400,
        error_code: 'validation_failed',
        msg: 'Nonces mismatch',
        error: 'invalid nonce',
        error_description: 'Nonces mismatch',
      })
    })

    const invalid: Record<string, () => Promise<object>> = {
      'a missing token': async () => ({}),
      'a malformed token': async () => ({ id_token: 'x.y.z' }),
      'a token signed with an unknown key': async () => ({
        id_token: await signIdToken({ ...claims, iss: issuer }, new Date(), foreign),
      }),
      'another audience': async () => ({ id_token: await idToken({ aud: 'another user' }) }),
      'another issuer': async () => ({ id_token: await idToken({ iss: 'https://evil.test' }) }),
      'an expired token': async () => ({ id_token: await idToken({ exp: 1_700_000_000 }) }),
      'a nonce in the request only': async () => ({ id_token: await idToken({}), nonce: 'n' }),
      'linking without a session': async () => ({
        id_token: await idToken({}),
        link_identity: true,
      }),
    }
    for (const [title, body] of Object.entries(invalid)) {
      await t.test(`rejects ${title} with both error formats`, async () => {
        const response = await exchange(await body())
        assert.equal(response.statusCode, 400)
        const { error, error_description, error_code, code, msg } = response.json()
        assert.deepEqual(
          { error, error_code, code },
          {
            error: 'invalid request',
            error_code: 'validation_failed',
            code: 400,
          },
        )
        assert.equal(error_description, msg)
      })
    }

    const other: Record<string, [object, string]> = {
      'rejects a provider without id_tokens': [{ provider: 'github' }, 'validation_failed'],
      'rejects a disabled provider': [{ provider: 'google' }, 'provider_disabled'],
      'rejects an issuer that is not allowed': [
        { provider: undefined, issuer: 'https://evil.test', client_id: 'c' },
        'validation_failed',
      ],
    }
    for (const [title, [body, code]] of Object.entries(other)) {
      await t.test(title, async () => {
        const response = await exchange({ id_token: await idToken({}), ...body })
        assert.equal(response.statusCode, 400)
        assert.equal(response.json().error_code, code)
      })
    }

    await t.test('rejects an unverified email', async () => {
      const unverified = { sub: 'bob-1', email: 'bob@ex.test', email_verified: false }
      const response = await exchange({ id_token: await idToken(unverified) })
      assert.equal(response.statusCode, 422)
      assert.equal(response.json().error_code, 'provider_email_needs_verification')
    })

    await t.test('rejects a token without an email', async () => {
      const response = await exchange({ id_token: await idToken({ sub: 'carl', email: '' }) })
      assert.equal(response.statusCode, 422)
      assert.equal(response.json().error_code, 'provider_email_needs_verification')
      const query = app.db.selectFrom('identities').select('id').where('provider_id', '=', 'carl')
      assert.deepEqual(await query.execute(), [])
    })
  })

  test('accepts an allowed issuer as a separate provider', async (t) => {
    const { exchange, idToken, issuer } = await start(t, 'listed')
    const id_token = await idToken({ aud: 'app' })
    const response = await exchange({ id_token, provider: undefined, issuer, client_id: 'app' })
    assert.equal(response.statusCode, 200, response.body)
    assert.equal(response.json<Session>().user.app_metadata.provider, issuer)
  })

  test('links the identity to the authenticated user', async (t) => {
    const { app, mail, exchange, idToken } = await start(t)
    await confirmedUser({ app, mail }, 'own@ex.test')
    const session = await signedIn(app, 'own@ex.test')
    const body = { id_token: await idToken({}), link_identity: true }
    const headers = { authorization: `Bearer ${session.access_token}` }
    const linked = await exchange(body, headers)
    assert.equal(linked.statusCode, 200, linked.body)
    const { user } = linked.json<Session>()
    assert.equal(user.id, session.user.id)
    assert.equal(user.email, 'own@ex.test')
    assert.deepEqual(
      user.identities?.map(({ provider }) => provider),
      ['email', 'acme'],
    )
    const again = await exchange(body, headers)
    assert.equal(again.json().error_code, 'identity_already_exists')
  })

  test('rejects linking when it is disabled', async (t) => {
    const { app, mail, exchange, idToken } = await start(t, 'named', 'false')
    await confirmedUser({ app, mail }, 'own@ex.test')
    const { access_token } = await signedIn(app, 'own@ex.test')
    const body = { id_token: await idToken({}), link_identity: true }
    const response = await exchange(body, { authorization: `Bearer ${access_token}` })
    assert.equal(response.json().error_code, 'manual_linking_disabled')
  })
})

/** In dev mode, where an issuer may be on loopback. */
async function start(t: TestContext, issuerIs: 'named' | 'listed' = 'named', linking = 'true') {
  const documented = cases.google?.documented
  assert.ok(documented)
  const { issuer } = await startFakeProvider(t, documented)
  const named = {
    AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
    AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: client.id,
    AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
    AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
  }
  const listed = {
    AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: issuer,
    AUTH_EXTERNAL_ID_TOKEN_AUDIENCES: `${issuer}=app`,
  }
  const env = {
    AUTH_JWT_ALLOWED_AUDIENCES: 'team',
    ...(issuerIs === 'named' ? named : listed),
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: linking,
  }
  const { app, mail } = await build(t, { dev: true, env })
  const idToken = (more: JWTPayload) => signIdToken({ iss: issuer, ...claims, ...more }, new Date())
  const exchange = (body: object, headers: Record<string, string> = {}) => {
    const payload = { provider: 'acme', ...body }
    return app.inject({ method: 'POST', url: '/token?grant_type=id_token', headers, payload })
  }
  return { app, mail, issuer, idToken, exchange }
}
