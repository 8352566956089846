/** Settings that decide whose account a provider's identity opens. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, proven, unproven } from '../support/external.ts'
import { landing, open, pkcePair } from '../support/mail-journeys.ts'
import { autoconfirm, confirmedPerson, createdPerson } from '../support/people.ts'
import { getUser } from '../support/requests.ts'

suite('accounts behind external identities', () => {
  test('AUTH_DISABLE_SIGNUP: who is known comes in, nobody else', async (t) => {
    const open = await externalServer(t)
    const known = await open.signInWith('github', proven('known@ex.test', '71'))
    assert.ok(known.fragment.access_token)
    const env = { AUTH_DISABLE_SIGNUP: 'true', DATABASE_URL: open.database.url }
    const closed = await externalServer(t, { env })
    assert.ok(
      (await closed.signInWith('github', proven('known@ex.test', '71'))).fragment.access_token,
    )
    assert.ok(
      (await closed.signInWith('gitlab', proven('known@ex.test', '71'))).fragment.access_token,
    )
    const refused = await closed.signInWith('github', proven('new@ex.test', '72'))
    assert.equal(refused.query.error, 'access_denied')
    assert.equal(refused.query.error_code, 'signup_disabled')
    assert.equal(await closed.countUsers(), 1)
  })

  for (const autoconfirmed of ['false', 'true']) {
    test(`AUTH_DISABLE_SIGNUP: an unproven address does not tell whether somebody has it (AUTH_MAILER_AUTOCONFIRM=${autoconfirmed})`, async (t) => {
      const env = { AUTH_DISABLE_SIGNUP: 'true', AUTH_MAILER_AUTOCONFIRM: autoconfirmed }
      const server = await externalServer(t, { env })
      await createdPerson(server.app, { email: 'known@ex.test', email_confirm: true })
      const answers: Record<string, string>[] = []
      for (const email of ['known@ex.test', 'nobody@ex.test']) {
        answers.push((await server.signInWith('github', unproven(email, '70'))).query)
      }
      assert.equal(answers[1]?.error_code, 'signup_disabled')
      assert.deepEqual(answers[0], answers[1])
    })
  }

  test('AUTH_MAILER_AUTOCONFIRM: a new address counts as proven, and opens nothing by another provider', async (t) => {
    const server = await externalServer(t, { env: autoconfirm })
    assert.ok(
      (await server.signInWith('github', unproven('ann@ex.test', '1'))).fragment.access_token,
    )
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.ok(user?.email_confirmed_at)
    assert.equal(user.identities[0]?.identity_data.email_verified, false)
    const other = await server.signInWith('gitlab', unproven('ann@ex.test', '2'))
    assert.equal(other.query.error_code, 'provider_email_needs_verification')
    assert.ok((await server.signInWith('gitlab', proven('ann@ex.test', '2'))).fragment.access_token)
    assert.equal(await server.countUsers(), 1)
  })

  test('AUTH_RATE_LIMIT_EMAIL_SENT: a mail that asks for a proof counts, and a taken address does not tell', async (t) => {
    const server = await externalServer(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '1' } })
    await createdPerson(server.app, { email: 'known@ex.test', email_confirm: true })
    const codes = []
    for (const [index, name] of ['first', 'second', 'known'].entries()) {
      const who = unproven(`${name}@ex.test`, String(80 + index))
      codes.push((await server.signInWith('github', who)).query.error_code)
    }
    const spent = 'over_email_send_rate_limit'
    assert.deepEqual(codes, ['provider_email_needs_verification', spent, spent])
  })

  test('the link of the mail signs in wherever it is opened, whatever client waits', async (t) => {
    const server = await externalServer(t)
    const query = pkcePair().fields
    await server.signInWith('github', unproven('elsewhere@ex.test', '90'), { query })
    const opened = await open(server.app, await server.mail.waitFor('elsewhere@ex.test'))
    assert.ok(landing(opened).fragment.access_token, String(opened.headers.location))
  })

  test('AUTH_USER_METADATA_MAX_BYTES: what a provider tells has no more room', async (t) => {
    const server = await externalServer(t, { env: { AUTH_USER_METADATA_MAX_BYTES: '2048' } })
    const who = { ...proven('long@ex.test', '61'), name: 'x'.repeat(3000) }
    const { fragment, query } = await server.signInWith('github', who)
    assert.ok(fragment.access_token, JSON.stringify(query))
    const user = await server.personWith({ provider: 'github', id: '61' })
    assert.equal(user?.raw_user_meta_data?.name, undefined)
    assert.equal(user?.raw_user_meta_data?.email, 'long@ex.test')
  })

  test('AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: in at once, and a mail', async (t) => {
    const env = {
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
      AUTH_SMTP_MAX_FREQUENCY: '60',
    }
    const server = await externalServer(t, { env })
    const who = unproven('ann@ex.test', '1')
    const tokens: (string | undefined)[] = []
    for (const _ of [1, 2]) {
      tokens.push((await server.signInWith('github', who)).fragment.access_token)
    }
    const statuses = async () => {
      const asked = tokens.map((access_token = '') => getUser(server.app, { access_token }))
      return (await Promise.all(asked)).map(({ statusCode }) => statusCode)
    }
    assert.deepEqual(await statuses(), [200, 200])
    await server.mail.waitFor('ann@ex.test')
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.equal(user?.email_confirmed_at, null)
    // Once somebody proves the address, whoever came in without a proof is out.
    assert.ok((await server.signInWith('gitlab', proven('ann@ex.test', '2'))).fragment.access_token)
    assert.deepEqual(await statuses(), [403, 403])
    assert.equal(await server.personWith({ provider: 'github', id: '1' }), undefined)
  })

  test('EMAIL_OPTIONAL: a person without an address', async (t) => {
    const env = { AUTH_EXTERNAL_GITHUB_EMAIL_OPTIONAL: 'true' }
    const server = await externalServer(t, { env })
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', { id: '1', emails: [] })
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.equal(user?.email, null)
    assert.equal(user?.email_confirmed_at, null)
    assert.equal(await server.countUsers(), 1)
  })

  test('mails are limited, whoever owns the address', async (t) => {
    const server = await externalServer(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    await confirmedPerson(server, 'owned@ex.test')
    for (const [email, codes] of Object.entries({
      'nobody@ex.test': ['provider_email_needs_verification', 'over_email_send_rate_limit'],
      // The sign-up has just sent one.
      'owned@ex.test': ['over_email_send_rate_limit', 'over_email_send_rate_limit'],
    })) {
      for (const code of codes) {
        const { query } = await server.signInWith('github', unproven(email, '100'))
        assert.equal(query.error_code, code)
        if (code.startsWith('over_')) assert.equal(query.error, 'server_error')
      }
    }
  })

  test('somebody banned', async (t) => {
    const server = await externalServer(t)
    const { user } = await confirmedPerson(server, 'ann@ex.test')
    const banned_until = new Date(Date.now() + 60_000)
    await server.app.db
      .updateTable('users')
      .set({ banned_until })
      .where('id', '=', user.id)
      .execute()
    const { query } = await server.signInWith('github', proven('ann@ex.test', '1'))
    assert.deepEqual([query.error, query.error_code], ['access_denied', 'user_banned'])
    assert.equal(await server.personWith({ provider: 'github', id: '1' }), undefined)
  })

  test('a linking domain of its own keeps accounts apart', async (t) => {
    const env = { AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: 'gitlab' }
    const server = await externalServer(t, { env })
    await confirmedPerson(server, 'ann@ex.test')
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('gitlab', proven('ann@ex.test', '1'))
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.personWith({ provider: 'gitlab', id: '1' })
    assert.equal(user?.is_sso_user, true)
    assert.equal(user?.email, 'ann@ex.test')
    assert.equal(await server.countUsers(), 2)
  })

  test('providers of one linking domain share accounts, with nobody else', async (t) => {
    const env = { AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: 'github=social,gitlab=social' }
    const server = await externalServer(t, { env })
    await confirmedPerson(server, 'ann@ex.test')
    for (const provider of ['github', 'gitlab'] as const) {
      const seen = await server.signInWith(provider, proven('ann@ex.test', '1'))
      assert.ok(seen.fragment.access_token)
    }
    const [byGithub, byGitlab] = [
      await server.personWith({ provider: 'github', id: '1' }),
      await server.personWith({ provider: 'gitlab', id: '1' }),
    ]
    assert.equal(byGithub?.id, byGitlab?.id ?? assert.fail())
    assert.equal(await server.countUsers(), 2)
  })

  test('ten first sign-ins at once make one account', async (t) => {
    const server = await externalServer(t)
    await server.signInWith('github', proven('warm@ex.test', '8'))
    for (const provider of ['github', 'gitlab'] as const) {
      describe(server.fakes, provider, proven('ann@ex.test', '9'))
    }
    const starts = await Promise.all(
      [...Array(10).keys()].map((index) => server.goTo(index % 2 ? 'github' : 'gitlab')),
    )
    const seen = await Promise.all(starts.map((params) => server.comeBack(params)))
    for (const { fragment, query } of seen) {
      assert.ok(fragment.access_token, query.error_description)
    }
    assert.equal(await server.countUsers(), 2)
  })
})
