/** Whose account a provider's identity opens: what the browser sees, and what is stored. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  describe,
  type ExternalServer,
  externalServer,
  type Somebody,
} from '../support/external.ts'
import { linkIn } from '../support/mail-links.ts'

type Seen = 'session' | { error: string; error_code: string }

interface Row {
  /** What is there before; returns the user that is expected to be entered, when it is an old one. */
  given?: (server: ExternalServer, email: string) => Promise<{ id: string } | undefined>
  who: (email: string, id: string) => Somebody
  provider?: 'github' | 'gitlab'
  seen: Seen
  /** Users that the sign-in adds. */
  made: number
  stored?: (server: ExternalServer, id: string, email: string) => Promise<void>
}

const needsVerification = {
  error: 'access_denied',
  error_code: 'provider_email_needs_verification',
}
const failure = { error: 'server_error', error_code: 'unexpected_failure' }

const proven = (email: string, id: string) => ({ id, emails: [{ email, verified: true }] })
const unproven = (email: string, id: string) => ({ id, emails: [{ email, verified: false }] })

const table: Record<string, Row> = {
  'a new account': {
    who: (email, id) => proven(email.toUpperCase(), id),
    seen: 'session',
    made: 1,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.email, email)
      assert.equal(user.encrypted_password, null)
      assert.equal(user.role, 'authenticated')
      assert.equal(user.is_sso_user, false)
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, email)
      assert.equal(identity?.identity_data.email_verified, true)
      assert.deepEqual(user.raw_user_meta_data, identity?.identity_data)
      assert.deepEqual(await auditActions(user.id), ['user_signedup'])
    },
  },
  'an identity that is known: data follows the provider, the address stays': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('github', { ...proven(email, id), name: 'Old Name' })
      return personWith({ provider: 'github', id })
    },
    who: (email, id) => ({ ...proven(`new-${email}`, id), name: 'New Name' }),
    seen: 'session',
    made: 0,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.raw_user_meta_data?.name, 'New Name')
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, `new-${email}`)
      assert.ok(Number(identity.updated_at) > Number(identity.last_sign_in_at))
      assert.deepEqual(await auditActions(user.id), ['user_signedup', 'login'])
    },
  },
  'a proven address of somebody with a password: linked, nothing of theirs is lost': {
    given: ({ signUp }, email) => signUp(email, true),
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith, passwordSignIn, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data?.providers, ['email', 'github'])
      assert.equal(user?.raw_app_meta_data?.provider, 'email')
      assert.equal(user?.raw_user_meta_data?.color, 'blue')
      assert.equal(user?.raw_user_meta_data?.name, 'Ann Lee')
      assert.equal((await passwordSignIn(email)).statusCode, 200)
      const actions = await auditActions(user?.id ?? '')
      assert.ok(actions.includes('identity_linked'), actions.join())
    },
  },
  'a proven address that somebody else has squatted: their password and identity are gone': {
    given: ({ signUp }, email) => signUp(email, false),
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith, passwordSignIn }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.encrypted_password, null)
      assert.deepEqual(
        user.identities.map(({ provider }) => provider),
        ['github'],
      )
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      assert.equal(user.raw_user_meta_data?.color, undefined)
      assert.equal((await passwordSignIn(email)).json().error_code, 'invalid_credentials')
    },
  },
  'a secondary proven address': {
    given: ({ signUp }, email) => signUp(email, true),
    who: (email, id) => ({
      id,
      emails: [
        { email: `first-${email}`, verified: true },
        { email, verified: true },
      ],
    }),
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      assert.equal((await personWith({ provider: 'github', id }))?.email, email)
    },
  },
  'a proven address that another provider has proven too': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('gitlab', proven(email, id))
      return personWith({ provider: 'gitlab', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id) {
      const user = await personWith({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data, {
        ...{ provider: 'gitlab', providers: ['gitlab', 'github'] },
      })
    },
  },
  'proven addresses of two people': {
    async given({ signUp }, email) {
      await signUp(email, true)
      await signUp(`other-${email}`, true)
      return undefined
    },
    who: (email, id) => ({
      id,
      emails: [
        { email, verified: true },
        { email: `other-${email}`, verified: true },
      ],
    }),
    seen: failure,
    made: 0,
    async stored({ personWith }, id) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
    },
  },
  'an unproven address that nobody has: mail, and no session before it is opened': {
    who: unproven,
    seen: needsVerification,
    made: 1,
    async stored({ app, mail, personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.email_confirmed_at, null)
      const { pathname, search } = new URL(linkIn(await mail.waitFor(email)))
      const opened = await app.inject(pathname + search)
      assert.match(String(opened.headers.location), /#access_token=/)
    },
  },
  'an unproven address of somebody: the same answer, no mail, nothing stored': {
    given: ({ signUp }, email) => signUp(email, true),
    who: unproven,
    seen: needsVerification,
    made: 0,
    async stored({ mail, personWith }, id, email) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
      assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
    },
  },
  'no address at all': { who: (_, id) => ({ id, emails: [] }), seen: failure, made: 0 },
  'an address that is none': {
    who: (_, id) => proven('not an address', id),
    seen: failure,
    made: 0,
  },
  'a known identity whose unproven address gives way to a proven one': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('github', unproven(`typo-${email}`, id))
      return personWith({ provider: 'github', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user?.email_confirmed_at)
    },
  },
  'a known identity: proving one address does not prove the other one it squats': {
    async given({ signIn, signUp, personWith }, email) {
      const id = idOf(email)
      await signIn('github', unproven(`victim-${email}`, id))
      await signUp(email, true)
      return personWith({ provider: 'github', id })
    },
    who: proven,
    seen: needsVerification,
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, `victim-${email}`)
      assert.equal(user?.email_confirmed_at, null)
    },
  },
}

suite('accounts behind external identities', () => {
  test('every row', async (t) => {
    const server = await externalServer(t)
    for (const [title, row] of Object.entries(table)) {
      await t.test(title, () => walk(server, row))
    }
  })

  test('AUTH_DISABLE_SIGNUP: who is known comes in, nobody else', async (t) => {
    const open = await externalServer(t)
    const known = await open.signIn('github', proven('known@ex.test', '71'))
    assert.ok(known.fragment.access_token)
    const env = { AUTH_DISABLE_SIGNUP: 'true', DATABASE_URL: open.database.url }
    const closed = await externalServer(t, { env })
    assert.ok((await closed.signIn('github', proven('known@ex.test', '71'))).fragment.access_token)
    assert.ok((await closed.signIn('gitlab', proven('known@ex.test', '71'))).fragment.access_token)
    const refused = await closed.signIn('github', proven('new@ex.test', '72'))
    assert.equal(refused.query.error, 'access_denied')
    assert.equal(refused.query.error_code, 'signup_disabled')
    assert.equal(await closed.countUsers(), 1)
  })

  test('AUTH_MAILER_AUTOCONFIRM: every address counts as proven', async (t) => {
    const server = await externalServer(t, { env: { AUTH_MAILER_AUTOCONFIRM: 'true' } })
    assert.ok((await server.signIn('github', unproven('ann@ex.test', '1'))).fragment.access_token)
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.ok(user?.email_confirmed_at)
    assert.equal(user.identities[0]?.identity_data.email_verified, false)
    assert.ok((await server.signIn('gitlab', unproven('ann@ex.test', '2'))).fragment.access_token)
    assert.equal(await server.countUsers(), 1)
  })

  test('AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: in at once, and a mail', async (t) => {
    const env = {
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
      AUTH_SMTP_MAX_FREQUENCY: '60',
    }
    const server = await externalServer(t, { env })
    const who = unproven('ann@ex.test', '1')
    for (const _ of [1, 2]) assert.ok((await server.signIn('github', who)).fragment.access_token)
    await server.mail.waitFor('ann@ex.test')
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.equal(user?.email_confirmed_at, null)
  })

  test('EMAIL_OPTIONAL: a person without an address', async (t) => {
    const env = { AUTH_EXTERNAL_GITHUB_EMAIL_OPTIONAL: 'true' }
    const server = await externalServer(t, { env })
    for (const _ of [1, 2]) {
      const seen = await server.signIn('github', { id: '1', emails: [] })
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.personWith({ provider: 'github', id: '1' })
    assert.equal(user?.email, null)
    assert.equal(user?.email_confirmed_at, null)
    assert.equal(await server.countUsers(), 1)
  })

  test('mails are limited, whoever owns the address', async (t) => {
    const server = await externalServer(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    await server.signUp('owned@ex.test', true)
    for (const [email, codes] of Object.entries({
      'nobody@ex.test': ['provider_email_needs_verification', 'over_email_send_rate_limit'],
      // The sign-up has just sent one.
      'owned@ex.test': ['over_email_send_rate_limit', 'over_email_send_rate_limit'],
    })) {
      for (const code of codes) {
        const { query } = await server.signIn('github', unproven(email, idOf(email)))
        assert.equal(query.error_code, code)
        if (code.startsWith('over_')) assert.equal(query.error, 'server_error')
      }
    }
  })

  test('somebody banned', async (t) => {
    const server = await externalServer(t)
    const user = await server.signUp('ann@ex.test', true)
    const banned_until = new Date(Date.now() + 60_000)
    await server.app.db
      .updateTable('users')
      .set({ banned_until })
      .where('id', '=', user.id)
      .execute()
    const { query } = await server.signIn('github', proven('ann@ex.test', '1'))
    assert.deepEqual([query.error, query.error_code], ['access_denied', 'user_banned'])
    assert.equal(await server.personWith({ provider: 'github', id: '1' }), undefined)
  })

  test('a linking domain of its own keeps accounts apart', async (t) => {
    const env = { AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: 'gitlab' }
    const server = await externalServer(t, { env })
    await server.signUp('ann@ex.test', true)
    for (const _ of [1, 2]) {
      const seen = await server.signIn('gitlab', proven('ann@ex.test', '1'))
      assert.ok(seen.fragment.access_token)
    }
    const user = await server.personWith({ provider: 'gitlab', id: '1' })
    assert.equal(user?.is_sso_user, true)
    assert.equal(user?.email, 'ann@ex.test')
    assert.equal(await server.countUsers(), 2)
  })

  test('ten first sign-ins at once make one account', async (t) => {
    const server = await externalServer(t)
    await server.signIn('github', proven('warm@ex.test', '8'))
    for (const provider of ['github', 'gitlab'] as const) {
      describe(server.fakes, provider, proven('ann@ex.test', '9'))
    }
    const starts = await Promise.all(
      [...Array(10).keys()].map((index) => server.goTo(index % 2 ? 'github' : 'gitlab')),
    )
    const seen = await Promise.all(starts.map((params) => server.comeBack(params)))
    for (const { fragment, query } of seen)
      assert.ok(fragment.access_token, query.error_description)
    assert.equal(await server.countUsers(), 2)
  })
})

let count = 100

/** Digits that belong to the address of one row. */
function idOf(email: string): string {
  return /\d+/.exec(email)?.[0] ?? '100'
}

async function walk(server: ExternalServer, { given, who, provider = 'github', ...row }: Row) {
  const id = String(++count)
  const email = `ann${id}@ex.test`
  const existing = await given?.(server, email)
  const before = await server.countUsers()

  const { status, query, fragment } = await server.signIn(provider, who(email, id))

  assert.equal(status, 302)
  if (row.seen === 'session') {
    assert.ok(fragment.access_token, JSON.stringify(query))
    const user = await server.personWith({ provider, id })
    if (existing) assert.equal(user?.id, existing.id)
  } else {
    const { error = '', error_code = '' } = query
    assert.deepEqual({ error, error_code }, row.seen)
    assert.deepEqual([fragment.error, fragment.error_code], [error, error_code])
    assert.equal(fragment.access_token, undefined)
  }
  assert.equal((await server.countUsers()) - before, row.made)
  await row.stored?.(server, id, email)
}
