/** GET and POST /callback: the redirect of the browser to the app. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { describe, externalServer, type ProviderUser, providerEnv } from '../../support/external.ts'
import { client } from '../../support/providers/fake-provider.ts'
import { startFakeTwitter } from '../../support/providers/fake-twitter.ts'

const ann: ProviderUser = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }
const verifier = 'v'.repeat(43)
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
}

suite('GET /callback', () => {
  test('returns the session and the provider tokens', async (t) => {
    const lines: string[] = []
    const env = { AUTH_URI_ALLOW_LIST: 'https://a.test/**,myapp://**' }
    const server = await externalServer(t, { env, lines })
    const { app, signInWith, startSignIn, finishSignIn } = server
    describe(server.fakes, 'github', ann)

    await t.test('returns the session in the fragment, replacing an existing one', async () => {
      const headers = { redirect_to: 'https://a.test/done?tab=2#old' }
      const seen = await signInWith('github', ann, { headers })
      assert.equal(seen.status, 302)
      assert.ok(seen.location.href.startsWith('https://a.test/done?tab=2#access_token='))
      assert.deepEqual(Object.keys(seen.fragment), [
        'access_token',
        'expires_at',
        'expires_in',
        'provider',
        'provider_refresh_token',
        'provider_token',
        'refresh_token',
        'token_type',
      ])
      assert.equal(seen.fragment.provider, 'github')
      assert.equal(seen.fragment.provider_token, 'at1')
      assert.equal(seen.fragment.provider_refresh_token, 'rt1')
      const { access_token } = seen.fragment
      const user = await app.inject({
        url: '/user',
        headers: { authorization: `Bearer ${access_token}` },
      })
      assert.equal(user.json().email, 'ann@ex.test')
      const { amr } = decodeJwt<{ amr: { method: string }[] }>(access_token ?? '')
      assert.equal(amr[0]?.method, 'oauth')
    })

    await t.test('redirects to an app with a custom scheme', async () => {
      const { location } = await signInWith('github', ann, {
        headers: { redirect_to: 'myapp://in' },
      })
      assert.equal(location.protocol, 'myapp:')
    })

    await t.test('returns an auth code to a PKCE client', async () => {
      const target = 'https://a.test/done?z=1&sb_flow_id=f1#part'
      const seen = await signInWith('github', ann, {
        query: pkce,
        headers: { redirect_to: target },
      })
      const { code } = seen.query
      assert.ok(code)
      assert.equal(seen.location.href, `https://a.test/done?code=${code}&sb_flow_id=f1&z=1#part`)
      const row = await app.db
        .selectFrom('flow_state')
        .selectAll()
        .where('auth_code', '=', code)
        .executeTakeFirstOrThrow()
      assert.ok(app.encryption.isEncrypted(row.provider_access_token ?? ''))
      assert.ok(app.encryption.isEncrypted(row.provider_refresh_token ?? ''))

      const exchange = (code_verifier: string) =>
        app.inject({
          method: 'POST',
          url: '/token?grant_type=pkce',
          payload: { auth_code: code, code_verifier },
        })
      assert.equal((await exchange('w'.repeat(43))).json().error_code, 'bad_code_verifier')
      const session = (await exchange(verifier)).json()
      assert.equal(session.provider_token, 'at1')
      assert.equal(session.provider_refresh_token, 'rt1')
      assert.equal(session.user.email, 'ann@ex.test')
      assert.equal((await exchange(verifier)).json().error_code, 'flow_state_not_found')
      const actions = await server.auditActions(session.user.id)
      // The first exchange signs in; the second use of the same code has revoked the session.
      assert.deepEqual(actions, ['user_signedup', 'login', 'login', 'token_revoked'])
    })

    await t.test('accepts a form POST and a trailing slash', async () => {
      const params = await startSignIn('github')
      const response = await app.inject({
        method: 'POST',
        url: '/callback/',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(params).toString(),
      })
      assert.equal(response.statusCode, 302)
      assert.match(String(response.headers.location), /^http:\/\/app\.example#access_token=/)
    })

    await t.test('accepts a POST without a body and with query parameters', async () => {
      const url = `/callback?${new URLSearchParams(await startSignIn('github'))}`
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const response = await app.inject({ method: 'POST', url, headers, payload: '' })
      assert.match(String(response.headers.location), /^http:\/\/app\.example#access_token=/)
      const empty = await app.inject({ method: 'POST', url: '/callback' })
      assert.equal(empty.statusCode, 303)
      assert.match(String(empty.headers.location), /error_code=bad_oauth_callback/)
    })

    await t.test('ignores a redirect_to in the callback', async () => {
      const params = await startSignIn('github')
      const { location } = await finishSignIn({ ...params, redirect_to: 'https://a.test/evil' })
      assert.equal(location.origin, 'http://app.example')
    })

    await t.test('logs no token or code', () => {
      const log = lines.join('')
      assert.ok(log.includes('/callback'))
      for (const secret of ['at1"', '"rt1', 'code-1', client.secret, 'ann@ex.test', verifier]) {
        assert.ok(!log.includes(secret), secret)
      }
    })
  })

  test('signs in with OAuth 1.0a', async (t) => {
    const twitter = await startFakeTwitter(t)
    const server = await externalServer(t, { env: providerEnv('twitter', twitter.origin) })

    async function startSignIn(): Promise<Record<string, string>> {
      const sent = await server.app.inject('/authorize?provider=twitter')
      const back = await fetch(String(sent.headers.location), { redirect: 'manual' })
      return Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
    }

    const { fragment } = await server.finishSignIn(await startSignIn())
    assert.equal(fragment.provider, 'twitter')
    assert.equal(fragment.provider_token, 'at')
    const { state = '', oauth_token = '' } = await startSignIn()
    const declined = await server.finishSignIn({ state, denied: oauth_token })
    assert.equal(declined.query.error, 'access_denied')
    const theirs = await startSignIn()
    const injected = await server.finishSignIn({ ...theirs, state })
    assert.equal(injected.query.error_code, 'bad_oauth_callback')
    assert.deepEqual(twitter.deviations, [])
  })

  test('redirects to AUTH_EXTERNAL_REDIRECTURL', async (t) => {
    const env = { AUTH_EXTERNAL_REDIRECTURL: 'https://end.test/here' }
    const { signInWith } = await externalServer(t, { env })
    const { location } = await signInWith('github', ann)
    assert.equal(location.origin + location.pathname, 'https://end.test/here')
  })
})
