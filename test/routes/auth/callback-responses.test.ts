/** How /callback handles providers that deny, fail, time out or are disabled. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, type ProviderUser } from '../../support/external.ts'
import { client } from '../../support/providers/fake-provider.ts'

const ann: ProviderUser = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }

suite('GET /callback: provider responses', () => {
  test('maps provider errors', async (t) => {
    const env = { AUTH_INTERNAL_HTTP_TIMEOUT: '2s' }
    const lines: string[] = []
    const server = await externalServer(t, { env, lines })
    const { startSignIn, finishSignIn, fakes } = server
    describe(fakes, 'github', ann)

    await t.test('maps a denial to a fixed description and keeps the state valid', async () => {
      const params = await startSignIn('github')
      const { state = '' } = params
      const error_description = '<b>call +1 555 to win</b>'
      const seen = await finishSignIn({ state, error: 'access_denied', error_description })
      assert.equal(seen.status, 302)
      const expected = {
        error: 'access_denied',
        error_description: 'The provider did not sign the user in',
      }
      assert.deepEqual(seen.query, expected)
      assert.deepEqual(seen.fragment, expected)
      assert.ok((await finishSignIn(params)).fragment.access_token)
    })

    await t.test('maps an unknown error to server_error', async () => {
      const { state = '' } = await startSignIn('github')
      const seen = await finishSignIn({ state, error: 'https://evil.test/?<script>' })
      assert.equal(seen.query.error, 'server_error')
    })

    await t.test('rejects a callback with neither code nor error', async () => {
      const { state = '' } = await startSignIn('github')
      const seen = await finishSignIn({ state })
      assert.equal(seen.query.error_code, 'bad_oauth_callback')
      assert.equal(seen.query.error, 'invalid_request')
    })

    const broken = {
      'an error with status 200': { body: '{"error":"bad_verification_code"}' },
      'an HTML page': { type: 'text/html', body: '<h1>Sorry</h1>' },
      nothing: 'silence' as const,
    }
    for (const [title, response] of Object.entries(broken)) {
      await t.test(`fails on ${title} instead of a token`, async () => {
        const params = await startSignIn('github')
        fakes.github.instead.set('/login/oauth/access_token', response)
        const seen = await finishSignIn(params)
        fakes.github.instead.delete('/login/oauth/access_token')
        const isDown = response === 'silence'
        assert.equal(seen.query.error, isDown ? 'temporarily_unavailable' : 'server_error')
        assert.equal(seen.query.error_code, isDown ? 'service_unavailable' : 'unexpected_failure')
        assert.equal(await server.countUsers(), 1)
      })
    }
    assert.ok(lines.join('').includes('bad_verification_code'), 'the reason is in the log')
  })

  test('logs the provider’s message as a warning, with the request id and without secrets', async (t) => {
    const lines: string[] = []
    const server = await externalServer(t, { lines })
    const { startSignIn, finishSignIn, fakes } = server
    describe(fakes, 'github', ann)
    const message = () =>
      lines.map((line) => JSON.parse(line)).filter(({ provider_message: text }) => text)

    const { state = '' } = await startSignIn('github')
    const words = 'The application [ann@ex.test] is suspended, ask +15550100'
    await finishSignIn({ state, error: 'access_denied', error_description: words })
    const [rejection] = message()
    assert.equal(
      rejection.provider_message,
      'access_denied: The application […] is suspended, ask +[…]',
    )

    const params = await startSignIn('github')
    const body = {
      error: 'invalid_client',
      error_description: `code ${params.code} and secret ${client.secret} do not fit. ${'x'.repeat(900)}`,
    }
    const response = { status: 401, body: JSON.stringify(body) }
    fakes.github.instead.set('/login/oauth/access_token', response)
    await finishSignIn(params)
    const [, rejected] = message()
    assert.match(
      rejected.provider_message,
      /invalid_client.*code \[…\] and secret \[…\] do not fit\. x+…$/,
    )
    assert.equal(rejected.provider_message.length, 500)
    for (const line of [rejection, rejected]) {
      assert.equal(line.level, 'warn')
      assert.match(line.request_id, /./)
    }
    assert.equal(lines.filter((line) => line.includes(params.code ?? '?')).length, 0)
  })

  test('times out a silent provider before the request deadline', async (t) => {
    const server = await externalServer(t, { env: { AUTH_API_MAX_REQUEST_DURATION: '2s' } })
    const { startSignIn, finishSignIn, fakes } = server
    const params = await startSignIn('github')
    fakes.github.instead.set('/login/oauth/access_token', 'silence')
    const seen = await finishSignIn(params)
    assert.equal(seen.location.origin, 'http://app.example')
    assert.equal(seen.query.error, 'temporarily_unavailable')
  })

  test('rejects the callback of a provider disabled since the start', async (t) => {
    const before = await externalServer(t)
    const params = await before.startSignIn('github')
    const env = { AUTH_EXTERNAL_GITHUB_ENABLED: 'false', DATABASE_URL: before.database.url }
    const after = await externalServer(t, { env })
    const seen = await after.finishSignIn(params)
    assert.equal(seen.query.error_code, 'oauth_provider_not_supported')
  })
})
