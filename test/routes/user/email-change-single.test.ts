/** Email changes that need one confirmation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { waitForEmailAttempt } from '../../support/messages/mail-attempts.ts'
import {
  nextEmail,
  open,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import {
  anonymousUser,
  autoconfirm,
  confirmedUser,
  newAddress,
  password,
  signIn,
  signUpUser,
} from '../../support/users.ts'

const query = `?redirect_to=${encodeURIComponent('http://app.example/profile')}`

const put = ({ app }: Built, token: string, body: object) =>
  call(app, `/user${query}`, body, { method: 'PUT', token })

suite('PUT /user with a new email: single confirmation', () => {
  const servers = sharedServers()
  const single = { AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' }

  test('emails only the new address without secure email change', async () => {
    const server = await servers(single)
    const { access_token: token, user } = await confirmedUser(server)
    const newEmail = newAddress('new')
    const since = server.mail.messages.length
    await put(server, token, { email: newEmail })
    const message = await nextEmail(server, newEmail, since)
    await waitForIdleQueue(server)
    assert.equal(
      server.mail.messages.slice(since).some(({ to }) => to === user.email),
      false,
    )
    assert.equal(redirectParams(await open(server.app, message)).fragment.type, 'email_change')
    assert.equal((await signIn(server.app, { email: newEmail })).statusCode, 200)
  })

  for (const by of ['new', 'current'] as const) {
    test(`AUTH_MAILER_AUTOCONFIRM: confirms by the link to the ${by} email alone`, async () => {
      const server = await servers(autoconfirm)
      const { access_token: token, email: current } = await signUpUser(server.app)
      const newEmail = newAddress('new')
      const since = server.mail.messages.length
      await put(server, token, { email: newEmail })
      const message = await nextEmail(server, by === 'new' ? newEmail : current, since)
      assert.equal(redirectParams(await open(server.app, message)).fragment.type, 'email_change')
      assert.equal((await signIn(server.app, { email: newEmail })).statusCode, 200)
    })
  }
})

suite('PUT /user with an email: anonymous user', () => {
  const servers = sharedServers()
  const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

  const start = ({ app }: Built) => anonymousUser(app, { data: { cart: 3 } })

  test('confirms by one link and keeps id, data and password', async () => {
    const server = await servers(anonymous)
    const { access_token: token, user } = await start(server)
    const email = newAddress()
    const response = await put(server, token, { email, password })
    assert.equal(response.json<User>().is_anonymous, true)
    const body = { type: 'email_change', email, token: codeIn(await nextEmail(server, email)) }
    const session = (await verify(server.app, body)).json<Session>()
    assert.equal(session.user.id, user.id)
    assert.equal(session.user.is_anonymous, false)
    assert.equal(session.user.email, email)
    assert.equal(session.user.user_metadata.cart, 3)
    assert.deepEqual(session.user.app_metadata, { provider: 'email', providers: ['email'] })
    assert.equal((await signIn(server.app, { email })).statusCode, 200)
  })

  test('applies immediately with AUTH_MAILER_AUTOCONFIRM', async () => {
    const server = await servers({ ...anonymous, AUTH_MAILER_AUTOCONFIRM: 'true' })
    const { access_token: token } = await start(server)
    const email = newAddress()
    const response = await put(server, token, { email, password })
    const user = response.json<User>()
    assert.equal(user.email, email)
    assert.equal(user.is_anonymous, false)
    assert.deepEqual(user.app_metadata, { provider: 'email', providers: ['email'] })
    assert.equal((await signIn(server.app, { email })).statusCode, 200)
  })

  test('attempts an email to a taken address without sending it', async () => {
    const server = await servers(anonymous)
    const { access_token: token } = await start(server)
    const { user } = await confirmedUser(server)
    const since = server.mail.messages.length
    await waitForEmailAttempt(server, async () => {
      assert.equal((await put(server, token, { email: user.email })).statusCode, 200)
    })
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('rejects a password without an email', async () => {
    const server = await servers(anonymous)
    const { access_token: token } = await start(server)
    const response = await put(server, token, { password })
    assert.equal(response.statusCode, 422)
    assert.equal(response.json().error_code, 'validation_failed')
  })
})
