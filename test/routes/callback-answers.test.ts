/** What a callback makes of a provider that refuses, errs, is silent or is no longer there. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, type Somebody } from '../support/external.ts'
import { client } from '../support/providers/fake-provider.ts'

const ann: Somebody = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }

suite('/callback', () => {
  test('what the provider answers', async (t) => {
    const env = { AUTH_INTERNAL_HTTP_TIMEOUT: '2s' }
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
        const seen = await comeBack(params)
        fakes.github.instead.delete('/login/oauth/access_token')
        const isDown = answer === 'silence'
        assert.equal(seen.query.error, isDown ? 'temporarily_unavailable' : 'server_error')
        assert.equal(seen.query.error_code, isDown ? 'service_unavailable' : 'unexpected_failure')
        assert.equal(await server.countUsers(), 1)
      })
    }
    assert.ok(lines.join('').includes('bad_verification_code'), 'the reason is in the log')
  })

  test('the provider’s own words are in the log at warning level, with the request and without secrets', async (t) => {
    const lines: string[] = []
    const server = await externalServer(t, { lines })
    const { goTo, comeBack, fakes } = server
    describe(fakes, 'github', ann)
    const spoken = () => lines.map((line) => JSON.parse(line)).filter(({ said }) => said)

    const { state = '' } = await goTo('github')
    const words = 'The application [ann@ex.test] is suspended, ask +15550100'
    await comeBack({ state, error: 'access_denied', error_description: words })
    const [refusal] = spoken()
    assert.equal(refusal.said, 'access_denied: The application […] is suspended, ask +[…]')

    const params = await goTo('github')
    const body = {
      error: 'invalid_client',
      error_description: `code ${params.code} and secret ${client.secret} do not fit. ${'x'.repeat(900)}`,
    }
    const answer = { status: 401, body: JSON.stringify(body) }
    fakes.github.instead.set('/login/oauth/access_token', answer)
    await comeBack(params)
    const [, refused] = spoken()
    assert.match(refused.said, /invalid_client.*code \[…\] and secret \[…\] do not fit\. x+…$/)
    assert.equal(refused.said.length, 500)
    for (const line of [refusal, refused]) {
      assert.equal(line.level, 'warn')
      assert.match(line.reqId, /./)
    }
    assert.equal(lines.filter((line) => line.includes(params.code ?? '?')).length, 0)
  })

  test('silence ends before the request does', async (t) => {
    const server = await externalServer(t, { env: { AUTH_API_MAX_REQUEST_DURATION: '2s' } })
    const { goTo, comeBack, fakes } = server
    const params = await goTo('github')
    fakes.github.instead.set('/login/oauth/access_token', 'silence')
    const seen = await comeBack(params)
    assert.equal(seen.location.origin, 'http://app.example')
    assert.equal(seen.query.error, 'temporarily_unavailable')
  })

  test('a provider that was switched off meanwhile', async (t) => {
    const before = await externalServer(t)
    const params = await before.goTo('github')
    const env = { AUTH_EXTERNAL_GITHUB_ENABLED: 'false', DATABASE_URL: before.database.url }
    const after = await externalServer(t, { env })
    const seen = await after.comeBack(params)
    assert.equal(seen.query.error_code, 'oauth_provider_not_supported')
  })
})
