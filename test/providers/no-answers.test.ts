/** What providers answer on bad days. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ProviderFault } from '../../providers/provider.ts'
import { type Answer, client } from '../support/providers/fake-provider.ts'
import { faultOf, json, start } from '../support/providers/sign-in.ts'

const html: Answer = { type: 'text/html', status: 200, body: '<h1>Maintenance</h1>' }

suite('answers that are none', () => {
  const failures: [string, string, Answer | 'silence', ProviderFault][] = [
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
    // Rounded: the same number as its neighbours, who are other people.
    ['gitlab', '/api/v4/user', { body: '{"id":9007199254740993}' }, 'profile'],
    ['twitch', '/helix/users', json({ data: [] }), 'profile'],
  ]
  for (const [name, path, answer, kind] of failures) {
    const what = answer === 'silence' ? answer : answer.body.slice(0, 50)
    test(`${name} ${path}: ${what} is ${kind}`, async (t) => {
      const { fake, signIn } = await start(t, name, answer === 'silence' ? 300 : undefined)
      fake.instead.set(path, answer)
      fake.instead.set('/elsewhere', json({ access_token: 'at1', id: 4 }))

      const error = await faultOf(signIn())

      assert.equal(error.kind, kind)
      assert.ok(!fake.requests.some((request) => request.endsWith('/elsewhere')))
      for (const secret of [client.secret, 'code-1', 'at1']) {
        assert.ok(!error.message.includes(secret), error.message)
      }
    })
  }

  test('discovery that is silent, a page, or of another issuer', async (t) => {
    const answers: (Answer | 'silence')[] = [
      'silence',
      html,
      { status: 503, body: '' },
      json({ issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' }),
    ]
    for (const answer of answers) {
      const { fake, signIn } = await start(t, 'google', answer === 'silence' ? 300 : undefined)
      fake.instead.set('/.well-known/openid-configuration', answer)
      assert.equal((await faultOf(signIn())).kind, 'discovery')
    }
  })
})

function moved(location: string): Answer {
  return { status: 307, location, body: '' }
}
