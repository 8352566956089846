/** Settings that decide which account an external identity signs in to. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  describe,
  externalServer,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { open, pkcePair, redirectParams } from '../../support/messages/mail-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { getUser } from '../../support/requests.ts'
import { adminCreatedUser, autoconfirm, confirmedUser } from '../../support/users.ts'

suite('account resolution settings of external sign-in', () => {
  const servers = sharedExternalServers()

  test('AUTH_DISABLE_SIGNUP: signs in known identities and rejects new users', async (t) => {
    const open = await externalServer(t)
    const known = await open.signInWith('github', verifiedProfile('known@ex.test', '71'))
    assert.ok(known.fragment.access_token)
    const env = { AUTH_DISABLE_SIGNUP: 'true', DATABASE_URL: open.database.url }
    const closed = await externalServer(t, { env })
    assert.ok(
      (await closed.signInWith('github', verifiedProfile('known@ex.test', '71'))).fragment
        .access_token,
    )
    assert.ok(
      (await closed.signInWith('gitlab', verifiedProfile('known@ex.test', '71'))).fragment
        .access_token,
    )
    const rejected = await closed.signInWith('github', verifiedProfile('new@ex.test', '72'))
    assert.equal(rejected.query.error, 'access_denied')
    assert.equal(rejected.query.error_code, 'signup_disabled')
    assert.equal(await closed.countUsers(), 1)
  })

  for (const autoconfirmed of ['false', 'true']) {
    test(`AUTH_DISABLE_SIGNUP: hides whether an unverified email is taken (AUTH_MAILER_AUTOCONFIRM=${autoconfirmed})`, async (t) => {
      const env = { AUTH_DISABLE_SIGNUP: 'true', AUTH_MAILER_AUTOCONFIRM: autoconfirmed }
      const server = await externalServer(t, { env })
      await adminCreatedUser(server.app, { email: 'known@ex.test', email_confirm: true })
      const responses: Record<string, string>[] = []
      for (const email of ['known@ex.test', 'nobody@ex.test']) {
        responses.push((await server.signInWith('github', unverifiedProfile(email, '70'))).query)
      }
      assert.equal(responses[1]?.error_code, 'signup_disabled')
      assert.deepEqual(responses[0], responses[1])
    })
  }

  test('AUTH_MAILER_AUTOCONFIRM: confirms an unverified email without linking other providers by it', async (t) => {
    const server = await externalServer(t, { env: autoconfirm })
    assert.ok(
      (await server.signInWith('github', unverifiedProfile('ann@ex.test', '1'))).fragment
        .access_token,
    )
    const user = await server.findUserBy({ provider: 'github', id: '1' })
    assert.ok(user?.email_confirmed_at)
    assert.equal(user.identities[0]?.identity_data.email_verified, false)
    const other = await server.signInWith('gitlab', unverifiedProfile('ann@ex.test', '2'))
    assert.equal(other.query.error_code, 'provider_email_needs_verification')
    assert.ok(
      (await server.signInWith('gitlab', verifiedProfile('ann@ex.test', '2'))).fragment
        .access_token,
    )
    assert.equal(await server.countUsers(), 1)
  })

  test('AUTH_RATE_LIMIT_EMAIL_SENT: counts confirmation emails and hides whether an email is taken', async (t) => {
    const server = await externalServer(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '1' } })
    await adminCreatedUser(server.app, { email: 'known@ex.test', email_confirm: true })
    const codes = []
    for (const [index, name] of ['first', 'second', 'known'].entries()) {
      const who = unverifiedProfile(`${name}@ex.test`, String(80 + index))
      codes.push((await server.signInWith('github', who)).query.error_code)
    }
    const consumed = 'over_email_send_rate_limit'
    assert.deepEqual(codes, ['provider_email_needs_verification', consumed, consumed])
  })

  test('signs in through the emailed link in another browser, also for a PKCE client', async () => {
    const server = await servers()
    const query = pkcePair().fields
    await server.signInWith('github', unverifiedProfile('elsewhere@ex.test', '90'), { query })
    const opened = await open(server.app, await server.mail.waitFor('elsewhere@ex.test'))
    assert.ok(redirectParams(opened).fragment.access_token, String(opened.headers.location))
  })

  test('AUTH_USER_METADATA_MAX_BYTES: drops provider metadata above the limit', async (t) => {
    const server = await externalServer(t, { env: { AUTH_USER_METADATA_MAX_BYTES: '2048' } })
    const who = { ...verifiedProfile('long@ex.test', '61'), name: 'x'.repeat(3000) }
    const { fragment, query } = await server.signInWith('github', who)
    assert.ok(fragment.access_token, JSON.stringify(query))
    const user = await server.findUserBy({ provider: 'github', id: '61' })
    assert.equal(user?.raw_user_meta_data?.name, undefined)
    assert.equal(user?.raw_user_meta_data?.email, 'long@ex.test')
  })

  test('AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: signs in immediately and sends a confirmation', async (t) => {
    const env = {
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
      AUTH_SMTP_MAX_FREQUENCY: '60',
    }
    const server = await externalServer(t, { env })
    const who = unverifiedProfile('ann@ex.test', '1')
    const tokens: (string | undefined)[] = []
    for (const _ of [1, 2]) {
      tokens.push((await server.signInWith('github', who)).fragment.access_token)
    }
    const statuses = async () => {
      const requested = tokens.map((access_token = '') => getUser(server.app, { access_token }))
      return (await Promise.all(requested)).map(({ statusCode }) => statusCode)
    }
    assert.deepEqual(await statuses(), [200, 200])
    await server.mail.waitFor('ann@ex.test')
    const user = await server.findUserBy({ provider: 'github', id: '1' })
    assert.equal(user?.email_confirmed_at, null)
    // Once the user confirms the email, sessions opened without verification are revoked.
    assert.ok(
      (await server.signInWith('gitlab', verifiedProfile('ann@ex.test', '2'))).fragment
        .access_token,
    )
    assert.deepEqual(await statuses(), [403, 403])
    assert.equal(await server.findUserBy({ provider: 'github', id: '1' }), undefined)
  })

  test('EMAIL_OPTIONAL: creates a user without an email', async (t) => {
    const env = { AUTH_EXTERNAL_GITHUB_EMAIL_OPTIONAL: 'true' }
    const server = await externalServer(t, { env })
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', { id: '1', emails: [] })
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.findUserBy({ provider: 'github', id: '1' })
    assert.equal(user?.email, null)
    assert.equal(user?.email_confirmed_at, null)
    assert.equal(await server.countUsers(), 1)
  })

  test('throttles confirmation emails equally for taken and free addresses', async (t) => {
    const server = await externalServer(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    await confirmedUser(server, 'owned@ex.test')
    for (const [email, codes] of Object.entries({
      'nobody@ex.test': ['provider_email_needs_verification', 'over_email_send_rate_limit'],
      // The sign-up has sent one.
      'owned@ex.test': ['over_email_send_rate_limit', 'over_email_send_rate_limit'],
    })) {
      for (const code of codes) {
        const { query } = await server.signInWith('github', unverifiedProfile(email, '100'))
        assert.equal(query.error_code, code)
        if (code.startsWith('over_')) assert.equal(query.error, 'server_error')
      }
    }
  })

  test('rejects a banned user and links no identity', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server, 'banned@ex.test')
    const banned_until = new Date(Date.now() + 60_000)
    await server.app.db
      .updateTable('users')
      .set({ banned_until })
      .where('id', '=', user.id)
      .execute()
    const { query } = await server.signInWith('github', verifiedProfile('banned@ex.test', '95'))
    assert.deepEqual([query.error, query.error_code], ['access_denied', 'user_banned'])
    assert.equal(await server.findUserBy({ provider: 'github', id: '95' }), undefined)
  })

  test('keeps accounts of a provider with its own linking domain separate', async (t) => {
    const env = { AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: 'gitlab' }
    const server = await externalServer(t, { env })
    await confirmedUser(server, 'ann@ex.test')
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('gitlab', verifiedProfile('ann@ex.test', '1'))
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.findUserBy({ provider: 'gitlab', id: '1' })
    assert.equal(user?.is_sso_user, true)
    assert.equal(user?.email, 'ann@ex.test')
    assert.equal(await server.countUsers(), 2)
  })

  test('shares accounts only among the providers of one linking domain', async (t) => {
    const env = { AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: 'github=social,gitlab=social' }
    const server = await externalServer(t, { env })
    await confirmedUser(server, 'ann@ex.test')
    for (const provider of ['github', 'gitlab'] as const) {
      const seen = await server.signInWith(provider, verifiedProfile('ann@ex.test', '1'))
      assert.ok(seen.fragment.access_token)
    }
    const [byGithub, byGitlab] = [
      await server.findUserBy({ provider: 'github', id: '1' }),
      await server.findUserBy({ provider: 'gitlab', id: '1' }),
    ]
    assert.equal(byGithub?.id, byGitlab?.id ?? assert.fail())
    assert.equal(await server.countUsers(), 2)
  })

  test('creates one account when ten first sign-ins race', async () => {
    const server = await servers()
    await server.signInWith('github', verifiedProfile('warm@ex.test', '8'))
    const before = await server.countUsers()
    for (const provider of ['github', 'gitlab'] as const) {
      describe(server.fakes, provider, verifiedProfile('ann@ex.test', '9'))
    }
    const starts = await Promise.all(
      [...Array(10).keys()].map((index) => server.startSignIn(index % 2 ? 'github' : 'gitlab')),
    )
    const seen = await Promise.all(starts.map((params) => server.finishSignIn(params)))
    for (const { fragment, query } of seen) {
      assert.ok(fragment.access_token, query.error_description)
    }
    assert.equal(await server.countUsers(), before + 1)
  })
})
