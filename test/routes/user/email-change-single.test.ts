/** Another address that one mailbox alone agrees to. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { untilMailAttempted } from '../../support/mail-attempts.ts'
import { idle, landing, nextMail, open } from '../../support/mail-journeys.ts'
import { codeIn } from '../../support/mail-links.ts'
import {
  anonymousPerson,
  autoconfirm,
  confirmedPerson,
  newAddress,
  newPerson,
  password,
  signIn,
} from '../../support/people.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const query = `?redirect_to=${encodeURIComponent('http://app.example/profile')}`

const put = ({ app }: Built, token: string, body: object) =>
  call(app, `/user${query}`, body, { method: 'PUT', token })

suite('an address that one mailbox agrees to', () => {
  const servers = sharedServers()
  const single = { AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' }

  test('without the secure change only the new mailbox is asked', async () => {
    const server = await servers(single)
    const { access_token: token, user } = await confirmedPerson(server)
    const wanted = newAddress('new')
    const since = server.mail.messages.length
    await put(server, token, { email: wanted })
    const message = await nextMail(server, wanted, since)
    await idle(server)
    assert.equal(
      server.mail.messages.slice(since).some(({ to }) => to === user.email),
      false,
    )
    assert.equal(landing(await open(server.app, message)).fragment.type, 'email_change')
    assert.equal((await signIn(server.app, { email: wanted })).statusCode, 200)
  })

  for (const by of ['wanted', 'current'] as const) {
    test(`with autoconfirmation the ${by} mailbox alone is enough`, async () => {
      const server = await servers(autoconfirm)
      const { access_token: token, email: current } = await newPerson(server.app)
      const wanted = newAddress('new')
      const since = server.mail.messages.length
      await put(server, token, { email: wanted })
      const message = await nextMail(server, by === 'wanted' ? wanted : current, since)
      assert.equal(landing(await open(server.app, message)).fragment.type, 'email_change')
      assert.equal((await signIn(server.app, { email: wanted })).statusCode, 200)
    })
  }
})

suite('an anonymous person gets an address', () => {
  const servers = sharedServers()
  const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

  const start = ({ app }: Built) => anonymousPerson(app, { data: { cart: 3 } })

  test('by one link; id and data stay, the password sent along works', async () => {
    const server = await servers(anonymous)
    const { access_token: token, user } = await start(server)
    const email = newAddress()
    const response = await put(server, token, { email, password })
    assert.equal(response.json<User>().is_anonymous, true)
    const body = { type: 'email_change', email, token: codeIn(await nextMail(server, email)) }
    const session = (await verify(server.app, body)).json<Session>()
    assert.equal(session.user.id, user.id)
    assert.equal(session.user.is_anonymous, false)
    assert.equal(session.user.email, email)
    assert.equal(session.user.user_metadata.cart, 3)
    assert.deepEqual(session.user.app_metadata, { provider: 'email', providers: ['email'] })
    assert.equal((await signIn(server.app, { email })).statusCode, 200)
  })

  test('at once with autoconfirmation', async () => {
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

  test('that is taken: nobody is written to, though a mail is attempted as to any other', async () => {
    const server = await servers(anonymous)
    const { access_token: token } = await start(server)
    const { user } = await confirmedPerson(server)
    const since = server.mail.messages.length
    await untilMailAttempted(server, async () => {
      assert.equal((await put(server, token, { email: user.email })).statusCode, 200)
    })
    await idle(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('a password without an address is refused', async () => {
    const server = await servers(anonymous)
    const { access_token: token } = await start(server)
    const response = await put(server, token, { password })
    assert.equal(response.statusCode, 422)
    assert.equal(response.json().error_code, 'validation_failed')
  })
})
