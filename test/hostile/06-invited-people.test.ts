/** Whoever is invited keeps the invitation, whatever strangers do with the address. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { configuredCleanUp } from '../../plugins/clean-up.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { idle, landing, mailAfter, open } from '../support/mail-journeys.ts'
import type { ReceivedMail } from '../support/mail-server.ts'
import { autoconfirm, confirmedPerson, invite, newAddress, signIn } from '../support/people.ts'
import { call } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { statementsOf } from '../support/statements.ts'

const password = 'the password of a stranger'

async function invited(server: Built, email = newAddress()) {
  return { email, mail: await invite(server, email, { data: { team: 'blue' } }) }
}

type Ask = (server: Built, email: string) => PromiseLike<{ statusCode: number; body: string }>

const asks: Record<string, Ask> = {
  'a sign-up': ({ app }, email) => call(app, '/signup', { email, password, data: { team: 'red' } }),
  'ten sign-ups at once': async ({ app }, email) => {
    const body = { email, password, data: { team: 'red' } }
    const answers = await Promise.all([...Array(10)].map(() => call(app, '/signup', body)))
    return answers[0] ?? assert.fail()
  },
  'a confirmation once more': ({ app }, email) => call(app, '/resend', { type: 'signup', email }),
  'a change once more': ({ app }, email) => call(app, '/resend', { type: 'email_change', email }),
}

const settings = {
  'addresses are confirmed by mail': {},
  'people come in unconfirmed': { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
}

type Later = (server: Built, email: string) => Promise<{ to: string; mail: ReceivedMail }>

const day = 86_400_000

const laterMails: Record<string, Later> = {
  'the invitation once more': async (server, email) => {
    const { id } = await personWith(server, email)
    return { to: email, mail: await invitedOnceMore(server, email, id) }
  },
  'once more after weeks': async (server, email) => {
    const { id } = await personWith(server, email)
    await server.app.db
      .updateTable('postern_pending_sign_ups')
      .set({ created_at: new Date(Date.now() - 30 * day) })
      .where('user_id', '=', id)
      .execute()
    await configuredCleanUp(server.app).run(new Date())
    return { to: email, mail: await invitedOnceMore(server, email, id) }
  },
  'to an address that an admin corrected': async (server, email) => {
    const { id } = await personWith(server, email)
    const to = newAddress()
    await adminCall(server.app, 'PUT', `/admin/users/${id}`, { email: to })
    return { to, mail: await invitedOnceMore(server, to, id) }
  },
}

const invitedOnceMore = (server: Built, email: string, id: string) =>
  mailAfter(server, email, () =>
    asAdmin(server.app, 'POST', `/admin/users/${id}/resend_invitation`),
  )

const personWith = ({ app }: Built, email: string) =>
  app.db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()

suite('an invited address', () => {
  const servers = sharedServers()

  for (const [when, env] of Object.entries(settings)) {
    for (const [name, ask] of Object.entries(asks)) {
      test(`${name}, where ${when}: no mail, and the invitation is as it was`, async () => {
        const server = await servers(env)
        const { email, mail } = await invited(server)
        const before = await stored(server, email)
        const answer = await ask(server, email)
        assert.equal(answer.statusCode, 200, answer.body)
        await idle(server)
        assert.equal(server.mail.messages.filter(({ to }) => to === email).length, 1)
        assert.deepEqual(await stored(server, email), before)
        const { fragment } = landing(await open(server.app, mail))
        assert.ok(fragment.access_token, JSON.stringify(fragment))
        assert.notEqual((await signIn(server.app, { email, password })).statusCode, 200)
      })
    }
  }

  test('a sign-up is answered like that of any address that is taken', async () => {
    const server = await servers()
    const body = { password, data: { team: 'red' } }
    const { email } = await invited(server)
    const waiting = await call(server.app, '/signup', { ...body, email })
    const { user } = await confirmedPerson(server)
    const taken = await call(server.app, '/signup', { ...body, email: user.email })
    const [a, b] = [waiting.json<User>(), taken.json<User>()]
    assert.deepEqual(Object.keys(a).sort(), Object.keys(b).sort())
    assert.deepEqual(a.identities, b.identities)
    assert.equal(a.user_metadata.team, 'red')
    assert.equal(a.invited_at, undefined)
  })

  test('with the same work', async () => {
    const server = await servers()
    const { email } = await invited(server)
    const { user } = await confirmedPerson(server)
    const kinds = async (address: string) =>
      (
        await statementsOf(server.app, () =>
          call(server.app, '/signup', { email: address, password }),
        )
      ).map((text) => text.slice(0, 60))
    assert.deepEqual(await kinds(email), await kinds(user.email))
  })

  test('where addresses are taken as proven, it is taken', async () => {
    const server = await servers(autoconfirm)
    const { email, mail } = await invited(server)
    const answer = await call(server.app, '/signup', { email, password })
    assert.equal(answer.json().error_code, 'user_already_exists')
    assert.ok(landing(await open(server.app, mail)).fragment.access_token)
  })

  test('so it is when the account has a password, which a sign-up guessed', async () => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    await adminCall(server.app, 'POST', '/admin/users', { email, password })
    await server.app.db
      .updateTable('users')
      .set({ invited_at: new Date() })
      .where('email', '=', email)
      .execute()
    const answer = await call(server.app, '/signup', { email, password })
    assert.equal(answer.json().error_code, 'user_already_exists')
  })

  test('a magic link leaves the invitation alone until it is opened', async () => {
    const server = await servers()
    const { email, mail } = await invited(server)
    await mailAfter(server, email, () => call(server.app, '/otp', { email }))
    assert.ok(landing(await open(server.app, mail)).fragment.access_token)
  })

  test('an admin may invite once more, and the newer mail counts', async () => {
    const server = await servers()
    const { email, mail } = await invited(server)
    const again = await invited(server, email)
    assert.equal(landing(await open(server.app, mail)).fragment.error_code, 'otp_expired')
    assert.ok(landing(await open(server.app, again.mail)).fragment.access_token)
  })

  test('a password that it has from elsewhere opens nothing once an admin has invited once more', async () => {
    const server = await servers()
    const { email } = await invited(server)
    await server.app.db
      .updateTable('users')
      .set({ encrypted_password: await server.app.passwords.hash(password) })
      .where('email', '=', email)
      .execute()
    const { mail } = await invited(server, email)
    assert.ok(landing(await open(server.app, mail)).fragment.access_token)
    const { error_code } = (await signIn(server.app, { email, password })).json()
    assert.equal(error_code, 'invalid_credentials')
  })

  for (const [name, later] of Object.entries(laterMails)) {
    test(`what a stranger set before goes with a later mail, too: ${name}`, async () => {
      const server = await servers()
      const email = newAddress()
      const data = { team: 'red' }
      await mailAfter(server, email, () => call(server.app, '/signup', { email, password, data }))
      await invited(server, email)
      const { to, mail } = await later(server, email)
      const { fragment } = landing(await open(server.app, mail))
      assert.ok(fragment.access_token, JSON.stringify(fragment))
      const entered = await signIn(server.app, { email: to, password })
      assert.equal(entered.json().error_code, 'invalid_credentials', entered.body)
      const own = await call(server.app, '/user', undefined, { token: fragment.access_token })
      assert.equal(own.json<User>().user_metadata.team, 'blue')
    })
  }

  test('an admin may make a sign-up link for it', async () => {
    const server = await servers()
    const { email } = await invited(server)
    const body = { type: 'signup', email, password }
    const made = await asAdmin(server.app, 'POST', '/admin/generate_link', body)
    assert.equal(made.statusCode, 200, made.body)
    const { pathname, search } = new URL(made.json().action_link)
    assert.ok(landing(await server.app.inject(pathname + search)).fragment.access_token)
    assert.equal((await signIn(server.app, { email, password })).statusCode, 200)
  })
})

async function stored({ app }: Built, email: string) {
  return app.db
    .selectFrom('users')
    .innerJoin('one_time_tokens', 'one_time_tokens.user_id', 'users.id')
    .select(['users.id', 'encrypted_password', 'raw_user_meta_data', 'invited_at', 'token_hash'])
    .where('email', '=', email)
    .execute()
}
