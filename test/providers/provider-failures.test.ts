/** Provider failures. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ProviderErrorKind } from '../../providers/core/provider-error.ts'
import { client, type Response } from '../support/providers/fake-provider.ts'
import { json, providerError, start } from '../support/providers/sign-in.ts'

const html: Response = { type: 'text/html', status: 200, body: '<h1>Maintenance</h1>' }

suite('provider failures', () => {
  const failures: [string, string, Response | 'silence', ProviderErrorKind][] = [
    [
      'github',
      '/login/oauth/access_token',
      json({ error: 'bad_verification_code' }),
      'code_exchange',
    ],
    ['slack', '/api/oauth.access', json({ ok: false, error: 'invalid_code' }), 'code_exchange'],
    ['discord', '/api/oauth2/token', json({ token_type: 'bearer' }), 'code_exchange'],
    ['discord', '/api/oauth2/token', html, 'code_exchange'],
    ['discord', '/api/oauth2/token', 'silence', 'code_exchange'],
    ['discord', '/api/oauth2/token', moved('/elsewhere'), 'code_exchange'],
    ['gitlab', '/api/v4/user', moved('/elsewhere'), 'profile'],
    [
      'discord',
      '/api/oauth2/token',
      json({ access_token: 'x'.repeat(2_000_000) }),
      'code_exchange',
    ],
    ['slack', '/api/openid.connect.userInfo', json({ ok: false }), 'profile'],
    ['slack', '/api/openid.connect.userInfo', json({ ok: false, error: 'x' }), 'profile'],
    ['facebook', '/me', json({ error: { message: 'no', code: 190 } }), 'profile'],
    ['gitlab', '/api/v4/user', { ...json({ message: '401' }), status: 401 }, 'profile'],
    ['gitlab', '/api/v4/user', html, 'profile'],
    ['gitlab', '/api/v4/user', 'silence', 'profile'],
    ['gitlab', '/api/v4/user', json(null), 'profile'],
    ['gitlab', '/api/v4/user', json({ id: null, email: 'ann@ex.test' }), 'profile'],
    // Rounded: equal to neighbouring numbers, which are other users’ ids.
    ['gitlab', '/api/v4/user', { body: '{"id":9007199254740993}' }, 'profile'],
    ['twitch', '/helix/users', json({ data: [] }), 'profile'],
  ]
  for (const [name, path, response, kind] of failures) {
    const what = response === 'silence' ? response : response.body.slice(0, 50)
    test(`${name} ${path}: ${what} is ${kind}`, async (t) => {
      const { fake, signIn } = await start(t, name, response === 'silence' ? 300 : undefined)
      fake.instead.set(path, response)
      fake.instead.set('/elsewhere', json({ access_token: 'at1', id: 4 }))

      const error = await providerError(signIn())

      assert.equal(error.kind, kind)
      assert.ok(!fake.requests.some((request) => request.endsWith('/elsewhere')))
      for (const secret of [client.secret, 'code-1', 'at1']) {
        assert.ok(!error.message.includes(secret), error.message)
      }
    })
  }

  test('fails for silent, invalid and foreign discovery documents', async (t) => {
    const responses: (Response | 'silence')[] = [
      'silence',
      html,
      { status: 503, body: '' },
      json({ issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' }),
    ]
    for (const response of responses) {
      const { fake, signIn } = await start(t, 'google', response === 'silence' ? 300 : undefined)
      fake.instead.set('/.well-known/openid-configuration', response)
      assert.equal((await providerError(signIn())).kind, 'discovery')
    }
  })
})

function moved(location: string): Response {
  return { status: 307, location, body: '' }
}
