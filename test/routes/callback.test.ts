/** The way back: what the browser is sent on with, which states are good for it, and what attackers try. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'

import { describe, externalServer, providerEnv, type Somebody } from '../support/external.ts'
import { client } from '../support/providers/fake-provider.ts'
import { startFakeTwitter } from '../support/providers/fake-twitter.ts'

const ann: Somebody = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }
const verifier = 'v'.repeat(43)
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
}

suite('/callback', () => {
  test('the session and the tokens of the provider', async (t) => {
    const lines: string[] = []
    const env = { AUTH_URI_ALLOW_LIST: 'https://a.test/**,myapp://**' }
    const server = await externalServer(t, { env, lines })
    const { app, signIn, goTo, comeBack } = server
    describe(server.fakes, 'github', ann)

    await t.test('in the fragment, which replaces the one there was', async () => {
      const headers = { redirect_to: 'https://a.test/done?tab=2#old' }
      const seen = await signIn('github', ann, { headers })
      assert.equal(seen.status, 302)
      assert.ok(seen.location.href.startsWith('https://a.test/done?tab=2#access_token='))
      assert.deepEqual(Object.keys(seen.fragment), [
        ...['access_token', 'expires_at', 'expires_in', 'provider', 'provider_refresh_token'],
        ...['provider_token', 'refresh_token', 'token_type'],
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
      const claims = JSON.parse(atob(access_token?.split('.')[1] ?? ''))
      assert.equal(claims.amr[0].method, 'oauth')
    })

    await t.test('of an app with its own scheme', async () => {
      const { location } = await signIn('github', ann, { headers: { redirect_to: 'myapp://in' } })
      assert.equal(location.protocol, 'myapp:')
    })

    await t.test('behind a code for a client with a verifier', async () => {
      const target = 'https://a.test/done?z=1&sb_flow_id=f1#part'
      const seen = await signIn('github', ann, { query: pkce, headers: { redirect_to: target } })
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
    })

    await t.test('by a form as well, with a slash at the end too', async () => {
      const params = await goTo('github')
      const response = await app.inject({
        method: 'POST',
        url: '/callback/',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(params).toString(),
      })
      assert.equal(response.statusCode, 302)
      assert.match(String(response.headers.location), /^http:\/\/app\.example#access_token=/)
    })

    await t.test('never to a target that the callback names', async () => {
      const params = await goTo('github')
      const { location } = await comeBack({ ...params, redirect_to: 'https://a.test/evil' })
      assert.equal(location.origin, 'http://app.example')
    })

    await t.test('and never in the log', () => {
      const log = lines.join('')
      assert.ok(log.includes('/callback'))
      for (const secret of ['at1"', '"rt1', 'code-1', client.secret, 'ann@ex.test', verifier]) {
        assert.ok(!log.includes(secret), secret)
      }
    })
  })

  test('states', async (t) => {
    const server = await externalServer(t)
    const { app, goTo, comeBack, fakes } = server
    describe(fakes, 'github', ann)
    describe(fakes, 'gitlab', ann)

    async function age(state: string, seconds: number) {
      const created_at = new Date(Date.now() - seconds * 1000)
      await app.db.updateTable('flow_state').set({ created_at }).where('id', '=', state).execute()
    }

    const refused: Record<string, [() => Promise<Record<string, string>>, string]> = {
      missing: [async () => ({ code: 'c' }), 'bad_oauth_callback'],
      'not an id': [async () => ({ state: "x' or 1", code: 'c' }), 'bad_oauth_state'],
      unknown: [async () => ({ state: crypto.randomUUID(), code: 'c' }), 'bad_oauth_state'],
      replayed: [
        async () => {
          const params = await goTo('github')
          assert.ok((await comeBack(params)).fragment.access_token)
          return params
        },
        'bad_oauth_state',
      ],
      'replayed, of a client with a verifier': [
        async () => {
          const params = await goTo('github', { query: pkce })
          assert.ok((await comeBack(params)).query.code)
          return params
        },
        'flow_state_already_used',
      ],
      'too old': [
        async () => {
          const params = await goTo('github')
          await age(params.state ?? '', 301)
          return params
        },
        'bad_oauth_state',
      ],
      'spent by a callback that failed at the provider': [
        async () => {
          const params = await goTo('github')
          const failed = await comeBack({ ...params, code: 'guessed' })
          assert.equal(failed.query.error_code, 'unexpected_failure')
          return params
        },
        'bad_oauth_state',
      ],
      'of a mail flow': [
        async () => {
          await server.signUp('pkce@ex.test', false)
          await app.inject({
            method: 'POST',
            url: '/signup',
            payload: { email: 'flow@ex.test', password: 'correct horse', ...pkce },
          })
          const row = await app.db
            .selectFrom('flow_state')
            .select('id')
            .where('provider_type', '=', 'email')
            .executeTakeFirstOrThrow()
          return { state: row.id, code: 'c' }
        },
        'bad_oauth_state',
      ],
    }
    for (const [title, [given, code]] of Object.entries(refused)) {
      await t.test(`${title}: back to the site, with nothing in the fragment`, async () => {
        const seen = await comeBack(await given())
        assert.equal(seen.status, 303)
        assert.equal(seen.location.origin, 'http://app.example')
        assert.equal(seen.location.hash, '')
        assert.equal(seen.query.error, 'invalid_request')
        assert.equal(seen.query.error_code, code)
      })
    }

    await t.test('within its time', async () => {
      const params = await goTo('github')
      await age(params.state ?? '', 299)
      assert.ok((await comeBack(params)).fragment.access_token)
    })

    await t.test('racing callbacks: one gets in', async () => {
      const params = await goTo('github')
      const seen = await Promise.all([1, 2, 3, 4, 5].map(() => comeBack(params)))
      assert.equal(seen.filter(({ fragment }) => fragment.access_token).length, 1)
      for (const { fragment, query } of seen) {
        if (!fragment.access_token) assert.equal(query.error_code, 'bad_oauth_state')
      }
    })

    await t.test('a code of another provider, or of another flow, is worth nothing', async () => {
      for (const other of ['gitlab', 'github'] as const) {
        const mine = await goTo('github')
        const theirs = await goTo(other)
        const seen = await comeBack({ state: mine.state ?? '', code: theirs.code ?? '' })
        assert.equal(seen.query.error_code, 'unexpected_failure')
        assert.equal(seen.fragment.access_token, undefined)
      }
    })
  })

  test('what the provider answers', async (t) => {
    const env = { AUTH_INTERNAL_HTTP_TIMEOUT: '1s' }
    const lines: string[] = []
    const server = await externalServer(t, { env, lines })
    const { goTo, comeBack, fakes } = server
    describe(fakes, 'github', ann)

    await t.test('a refusal: its code and our words; the state is still good', async () => {
      const params = await goTo('github')
      const { state = '' } = params
      const error_description = '<b>call +1 555 to win</b>'
      const seen = await comeBack({ state, error: 'access_denied', error_description })
      assert.equal(seen.status, 302)
      const expected = {
        error: 'access_denied',
        error_description: 'The provider did not sign the person in',
      }
      assert.deepEqual(seen.query, expected)
      assert.deepEqual(seen.fragment, expected)
      assert.ok((await comeBack(params)).fragment.access_token)
    })

    await t.test('an error nobody knows', async () => {
      const { state = '' } = await goTo('github')
      const seen = await comeBack({ state, error: 'https://evil.test/?<script>' })
      assert.equal(seen.query.error, 'server_error')
    })

    await t.test('neither code nor error', async () => {
      const { state = '' } = await goTo('github')
      const seen = await comeBack({ state })
      assert.equal(seen.query.error_code, 'bad_oauth_callback')
      assert.equal(seen.query.error, 'invalid_request')
    })

    const broken = {
      'an error with status 200': { body: '{"error":"bad_verification_code"}' },
      'a page': { type: 'text/html', body: '<h1>Sorry</h1>' },
      nothing: 'silence' as const,
    }
    for (const [title, answer] of Object.entries(broken)) {
      await t.test(`${title} instead of a token`, async () => {
        const params = await goTo('github')
        fakes.github.instead.set('/login/oauth/access_token', answer)
        const started = performance.now()
        const seen = await comeBack(params)
        fakes.github.instead.delete('/login/oauth/access_token')
        assert.equal(seen.query.error, 'server_error')
        assert.equal(seen.query.error_code, 'unexpected_failure')
        assert.ok(performance.now() - started < 8_000)
        assert.equal(await server.countUsers(), 1)
      })
    }
    assert.ok(lines.join('').includes('bad_verification_code'), 'the reason is in the log')
  })

  test('OAuth 1.0a', async (t) => {
    const twitter = await startFakeTwitter(t)
    const server = await externalServer(t, { env: providerEnv('twitter', twitter.origin) })

    async function goTo(): Promise<Record<string, string>> {
      const sent = await server.app.inject('/authorize?provider=twitter')
      const back = await fetch(String(sent.headers.location), { redirect: 'manual' })
      return Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
    }

    const { fragment } = await server.comeBack(await goTo())
    assert.equal(fragment.provider, 'twitter')
    assert.equal(fragment.provider_token, 'at')
    const { state = '', oauth_token = '' } = await goTo()
    const declined = await server.comeBack({ state, denied: oauth_token })
    assert.equal(declined.query.error, 'access_denied')
    const theirs = await goTo()
    const injected = await server.comeBack({ ...theirs, state })
    assert.equal(injected.query.error_code, 'bad_oauth_callback')
    assert.deepEqual(twitter.complaints, [])
  })

  test('silence ends before the request does', async (t) => {
    const server = await externalServer(t, { env: { AUTH_API_MAX_REQUEST_DURATION: '2s' } })
    const { goTo, comeBack, fakes } = server
    const params = await goTo('github')
    fakes.github.instead.set('/login/oauth/access_token', 'silence')
    const seen = await comeBack(params)
    assert.equal(seen.location.origin, 'http://app.example')
    assert.equal(seen.query.error, 'server_error')
  })

  test('a provider that was switched off meanwhile', async (t) => {
    const before = await externalServer(t)
    const params = await before.goTo('github')
    const env = { AUTH_EXTERNAL_GITHUB_ENABLED: 'false', DATABASE_URL: before.database.url }
    const after = await externalServer(t, { env })
    const seen = await after.comeBack(params)
    assert.equal(seen.query.error_code, 'oauth_provider_not_supported')
  })

  test('AUTH_EXTERNAL_REDIRECTURL is where everybody ends', async (t) => {
    const env = { AUTH_EXTERNAL_REDIRECTURL: 'https://end.test/here' }
    const { signIn } = await externalServer(t, { env })
    const { location } = await signIn('github', ann)
    assert.equal(location.origin + location.pathname, 'https://end.test/here')
  })
})
