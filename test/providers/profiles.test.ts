/** Incomplete and unusual profiles. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ProviderIdentity } from '../../providers/core/types.ts'
import type { Response } from '../support/providers/fake-provider.ts'
import { json, start } from '../support/providers/sign-in.ts'

suite('incomplete and unusual profiles', () => {
  const email = 'ann@ex.test'
  const profiles: [string, string, string, unknown, Partial<ProviderIdentity['claims']>][] = [
    ['no email', 'facebook', '/me', { id: '5' }, { email: undefined, email_verified: false }],
    ['an empty email', 'figma', '/v1/me', { id: '5', email: '' }, { email: undefined }],
    ['a private email', 'github', '/api/v3/user/emails', [], { email: undefined }],
    [
      'an unverified email',
      'discord',
      '/api/users/@me',
      { id: '7', email },
      { email_verified: false },
    ],
    [
      'no avatar',
      'discord',
      '/api/users/@me',
      { id: '7', username: 'ann', discriminator: '0007', email },
      { name: 'ann#0007', picture: 'https://cdn.discordapp.com/embed/avatars/2.png' },
    ],
    [
      'an animated avatar',
      'discord',
      '/api/users/@me',
      { id: '7', username: 'ann', avatar: 'a_b' },
      { picture: 'https://cdn.discordapp.com/avatars/7/a_b.gif', email: undefined },
    ],
    ['an unconfirmed email', 'gitlab', '/api/v4/user', { id: 4, email }, { email_verified: false }],
    [
      'an id as string',
      'gitlab',
      '/api/v4/user',
      { id: '4', email, confirmed_at: '2020-02-02' },
      { sub: '4', email_verified: true },
    ],
    [
      'no primary email',
      'bitbucket',
      '/2.0/user/emails',
      { values: [{ email: 'a@ex.test', is_confirmed: true }, { email: 'b@ex.test' }] },
      { email: 'b@ex.test', email_verified: false },
    ],
    [
      'an unverified email',
      'slack',
      '/api/openid.connect.userInfo',
      { ok: true, 'https://slack.com/user_id': 'U1', email, email_verified: false },
      { email_verified: false },
    ],
    [
      'a valid but unverified email',
      'kakao',
      '/v2/user/me',
      { id: 1, kakao_account: { email, is_email_valid: true } },
      { email_verified: false, name: undefined },
    ],
    [
      'an unverified email',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: 100, verified: 0 },
      { email_verified: false },
    ],
    [
      'an unverified email of another sign-in type',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: 1, verified: 0 },
      { email_verified: false },
    ],
    [
      'an unverified email and a list of sign-in types',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_types: [100], verified: 0 },
      { email_verified: false },
    ],
    [
      'no verification status',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_types: [100] },
      { email_verified: false },
    ],
    [
      'no verification status',
      'slack',
      '/api/openid.connect.userInfo',
      { ok: true, 'https://slack.com/user_id': 'U1', email },
      { email_verified: false },
    ],
    [
      'an email verified by a string',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: '100', verified: 'true' },
      { email_verified: true },
    ],
    [
      'an email verified by a boolean',
      'zoom',
      '/v2/users/me',
      { id: 'z', email, login_type: 100, verified: true },
      { email_verified: true },
    ],
    [
      'an empty list of emails',
      'linkedin',
      '/v2/emailAddress',
      { elements: [] },
      { email: undefined, name: 'Ann Lee' },
    ],
    [
      'a verification status as string',
      'keycloak',
      '/protocol/openid-connect/userinfo',
      { sub: 'k', email, email_verified: 'false' },
      { email_verified: false },
    ],
    [
      'values of wrong types',
      'keycloak',
      '/protocol/openid-connect/userinfo',
      { sub: 'k', email: { at: 'all' }, name: ['x'], email_verified: 1 },
      { email: undefined, name: undefined, email_verified: false },
    ],
    [
      'blanks and upper case in the email',
      'figma',
      '/v1/me',
      { id: 'f', email: ' Ann@EX.test ' },
      { email, email_verified: true },
    ],
    [
      'a look-alike of another email',
      'figma',
      '/v1/me',
      { id: 'f', email: 'ann@ex.te\u017Ft' },
      { email, email_verified: false },
    ],
  ]
  for (const [title, name, path, body, expected] of profiles) {
    test(`${name}: reads a profile with ${title}`, async (t) => {
      const { fake, signIn } = await start(t, name)
      fake.instead.set(path, json(body))

      const { claims } = await signIn()

      for (const [claim, value] of Object.entries(expected)) {
        assert.equal(claims[claim], value, claim)
      }
      assert.equal(claims.phone_verified, false)
      assert.ok(!Object.values(claims).includes(''))
    })
  }
})

suite('unreadable list of emails', () => {
  const rejections: [string, Response | 'silence'][] = [
    ['a rejection', { status: 403, body: '{"message":"Resource not accessible by integration"}' }],
    ['a missing list', { status: 404, body: '{"message":"404 Not Found"}' }],
    ['an HTML page', { type: 'text/html', body: '<h1>Sign in</h1>' }],
  ]
  for (const [title, response] of rejections) {
    test(`github, ${title}: uses the public email as unverified`, async (t) => {
      const { fake, signIn } = await start(t, 'github')
      fake.instead.set('/api/v3/user/emails', response)
      assert.deepEqual((await signIn()).emails, [])
      const user = { id: 42, login: 'ann', email: 'ann@ex.test' }
      fake.instead.set('/api/v3/user', json(user))
      const { providerId, emails } = await signIn()
      assert.equal(providerId, '42')
      assert.deepEqual(emails, [{ email: 'ann@ex.test', verified: false, primary: true }])
    })
  }

  for (const [title, response] of [...rejections, ['silent', 'silence'] as const]) {
    test(`gitlab, ${title}: uses the verified email of the profile`, async (t) => {
      const { fake, signIn } = await start(t, 'gitlab')
      fake.instead.set('/api/v4/user/emails', response)
      const { emails } = await signIn()
      assert.deepEqual(emails, [{ email: 'ann@ex.test', verified: true, primary: true }])
    })
  }

  test('github: reports an outage when the list is temporarily unavailable', async (t) => {
    const { fake, signIn } = await start(t, 'github')
    fake.instead.set('/api/v3/user/emails', { status: 502, body: '' })
    await assert.rejects(signIn(), { kind: 'profile', isDown: true })
  })
})
