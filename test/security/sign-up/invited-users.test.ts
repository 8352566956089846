/** An invitation stays valid whatever unauthenticated clients do with the email. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cleanupFromConfig } from '../../../plugins/background/cleanup/index.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import {
  emailAfter,
  open,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { watchStatements } from '../../support/statements.ts'
import { autoconfirm, confirmedUser, invite, newAddress, signIn } from '../../support/users.ts'

const password = 'the password of the attacker'

async function invited(server: Built, email = newAddress()) {
  return { email, mail: await invite(server, email, { data: { team: 'blue' } }) }
}

type Send = (server: Built, email: string) => PromiseLike<{ statusCode: number; body: string }>

const requests: Record<string, Send> = {
  'a sign-up': ({ app }, email) => call(app, '/signup', { email, password, data: { team: 'red' } }),
  'ten racing sign-ups': async ({ app }, email) => {
    const body = { email, password, data: { team: 'red' } }
    const responses = await Promise.all([...Array(10)].map(() => call(app, '/signup', body)))
    return responses[0] ?? assert.fail()
  },
  'a resend of a confirmation': ({ app }, email) => call(app, '/resend', { type: 'signup', email }),
  'a resend of an email change': ({ app }, email) =>
    call(app, '/resend', { type: 'email_change', email }),
}

const settings = {
  'emails need confirmation': {},
  'unconfirmed users can sign in': { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
}

type Later = (server: Built, email: string) => Promise<{ to: string; mail: ReceivedMail }>

const day = 86_400_000

const laterEmails: Record<string, Later> = {
  'the invitation sent again': async (server, email) => {
    const { id } = await findInvited(server, email)
    return { to: email, mail: await invitedOnceMore(server, email, id) }
  },
  'sent again after weeks': async (server, email) => {
    const { id } = await findInvited(server, email)
    await server.app.db
      .updateTable('postern_pending_sign_ups')
      .set({ created_at: new Date(Date.now() - 30 * day) })
      .where('user_id', '=', id)
      .execute()
    await cleanupFromConfig(server.app).run(new Date())
    return { to: email, mail: await invitedOnceMore(server, email, id) }
  },
  'to an email corrected by an admin': async (server, email) => {
    const { id } = await findInvited(server, email)
    const to = newAddress()
    await adminCall(server.app, 'PUT', `/admin/users/${id}`, { email: to })
    return { to, mail: await invitedOnceMore(server, to, id) }
  },
}

const invitedOnceMore = (server: Built, email: string, id: string) =>
  emailAfter(server, email, () =>
    asAdmin(server.app, 'POST', `/admin/users/${id}/resend_invitation`),
  )

const findInvited = ({ app }: Built, email: string) =>
  app.db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()

suite('invited email', () => {
  const servers = sharedServers()

  for (const [when, env] of Object.entries(settings)) {
    for (const [name, send] of Object.entries(requests)) {
      test(`${name} where ${when}: sends no email and does not change the invitation`, async () => {
        const server = await servers(env)
        const { email, mail } = await invited(server)
        const before = await stored(server, email)
        const response = await send(server, email)
        assert.equal(response.statusCode, 200, response.body)
        await waitForIdleQueue(server)
        assert.equal(server.mail.messages.filter(({ to }) => to === email).length, 1)
        assert.deepEqual(await stored(server, email), before)
        const { fragment } = redirectParams(await open(server.app, mail))
        assert.ok(fragment.access_token, JSON.stringify(fragment))
        assert.notEqual((await signIn(server.app, { email, password })).statusCode, 200)
      })
    }
  }

  test('responds to a sign-up as for a confirmed email', async () => {
    const server = await servers()
    const body = { password, data: { team: 'red' } }
    const { email } = await invited(server)
    const waiting = await call(server.app, '/signup', { ...body, email })
    const { user } = await confirmedUser(server)
    const taken = await call(server.app, '/signup', { ...body, email: user.email })
    const [a, b] = [waiting.json<User>(), taken.json<User>()]
    assert.deepEqual(Object.keys(a).sort(), Object.keys(b).sort())
    assert.deepEqual(a.identities, b.identities)
    assert.equal(a.user_metadata.team, 'red')
    assert.equal(a.invited_at, undefined)
  })

  test('does the same work as for a confirmed email', async () => {
    const server = await servers()
    const { email } = await invited(server)
    const { user } = await confirmedUser(server)
    const kinds = async (address: string) =>
      (
        await watchStatements(server.app, () =>
          call(server.app, '/signup', { email: address, password }),
        )
      ).map((text) => text.slice(0, 60))
    assert.deepEqual(await kinds(email), await kinds(user.email))
  })

  test('is reported as taken under AUTH_MAILER_AUTOCONFIRM', async () => {
    const server = await servers(autoconfirm)
    const { email, mail } = await invited(server)
    const response = await call(server.app, '/signup', { email, password })
    assert.equal(response.json().error_code, 'user_already_exists')
    assert.ok(redirectParams(await open(server.app, mail)).fragment.access_token)
  })

  test('is reported as taken under AUTH_MAILER_AUTOCONFIRM also with the correct password', async () => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    await adminCall(server.app, 'POST', '/admin/users', { email, password })
    await server.app.db
      .updateTable('users')
      .set({ invited_at: new Date() })
      .where('email', '=', email)
      .execute()
    const response = await call(server.app, '/signup', { email, password })
    assert.equal(response.json().error_code, 'user_already_exists')
  })

  test('keeps the invitation valid until a magic link is opened', async () => {
    const server = await servers()
    const { email, mail } = await invited(server)
    await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    assert.ok(redirectParams(await open(server.app, mail)).fragment.access_token)
  })

  test('can be invited again, which invalidates the previous email', async () => {
    const server = await servers()
    const { email, mail } = await invited(server)
    const again = await invited(server, email)
    assert.equal(redirectParams(await open(server.app, mail)).fragment.error_code, 'otp_expired')
    assert.ok(redirectParams(await open(server.app, again.mail)).fragment.access_token)
  })

  test('drops an earlier password when invited again', async () => {
    const server = await servers()
    const { email } = await invited(server)
    await server.app.db
      .updateTable('users')
      .set({ encrypted_password: await server.app.passwords.hash(password) })
      .where('email', '=', email)
      .execute()
    const { mail } = await invited(server, email)
    assert.ok(redirectParams(await open(server.app, mail)).fragment.access_token)
    const { error_code } = (await signIn(server.app, { email, password })).json()
    assert.equal(error_code, 'invalid_credentials')
  })

  for (const [name, later] of Object.entries(laterEmails)) {
    test(`drops an earlier sign-up’s password and metadata with a later email: ${name}`, async () => {
      const server = await servers()
      const email = newAddress()
      const data = { team: 'red' }
      await emailAfter(server, email, () => call(server.app, '/signup', { email, password, data }))
      await invited(server, email)
      const { to, mail } = await later(server, email)
      const { fragment } = redirectParams(await open(server.app, mail))
      assert.ok(fragment.access_token, JSON.stringify(fragment))
      const entered = await signIn(server.app, { email: to, password })
      assert.equal(entered.json().error_code, 'invalid_credentials', entered.body)
      const own = await call(server.app, '/user', undefined, { token: fragment.access_token })
      assert.equal(own.json<User>().user_metadata.team, 'blue')
    })
  }

  test('accepts a signup link created by an admin', async () => {
    const server = await servers()
    const { email } = await invited(server)
    const body = { type: 'signup', email, password }
    const made = await asAdmin(server.app, 'POST', '/admin/generate_link', body)
    assert.equal(made.statusCode, 200, made.body)
    const { pathname, search } = new URL(made.json().action_link)
    assert.ok(redirectParams(await server.app.inject(pathname + search)).fragment.access_token)
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
