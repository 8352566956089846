/** Changes of address or number that somebody else began, and what is left of them once the owner has shut them out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import { proven, unproven } from '../support/external.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import { idle, landing, mailAfter, nextMail, open } from '../support/mail-journeys.ts'
import {
  answerOf,
  confirmedPerson,
  newAddress,
  newNumber,
  phonePerson,
  signedIn,
  signIn,
} from '../support/people.ts'
import { codeAfter, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, changeUser, outcomeOf, verify } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

const oneMailbox = {
  AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  AUTH_SMTP_MAX_FREQUENCY: '0',
}

type SignOut = (app: App, own: Session) => ReturnType<typeof call>

const logout =
  (scope: string): SignOut =>
  (app, { access_token: token }) =>
    call(app, `/logout?scope=${scope}`, {}, { token })

const signOuts: Record<string, SignOut> = {
  'a sign-out everywhere': logout('global'),
  'a sign-out of the others': logout('others'),
  'a sign-out by an admin': (app, { user }) =>
    asAdmin(app, 'DELETE', `/admin/users/${user.id}/sessions`),
}

suite('a change that a stolen session began', () => {
  const servers = sharedSmsServer({ env: oneMailbox })
  for (const who of ['the owner', 'an admin']) {
    test(`of the address: nobody can ask for it once more after a new password by ${who}`, async () => {
      const server = await servers()
      const { app } = server
      const [email, wanted] = [newAddress('owner'), newAddress('thief')]
      const own = await confirmedPerson(server, email)
      const stolen = await signedIn(app, email)
      await mailAfter(server, wanted, () => changeUser(app, stolen.access_token, { email: wanted }))
      await newPassword(server.app, own, who)
      const resent = await call(app, '/resend', { type: 'email_change', email })
      assert.equal(resent.statusCode, 200)
      await idle(server)
      assert.equal(server.mail.messages.filter(({ to }) => to === wanted).length, 1)
    })

    test(`of the number: nobody can ask for it once more after a new password by ${who}`, async () => {
      const server = await servers()
      const { app, sms } = server
      const [phone, wanted] = [newNumber(), newNumber()]
      const own = await phonePerson(server, phone)
      const stolen: Session = answerOf(await signIn(app, { phone }))
      await codeAfter(server, wanted, () => changeUser(app, stolen.access_token, { phone: wanted }))
      await newPassword(server.app, own, who)
      await call(app, '/resend', { type: 'phone_change', phone })
      await idle(server)
      assert.equal(sms.messages.filter(({ to }) => to.endsWith(wanted)).length, 1)
    })
  }
})

suite('a change that waits when an admin gives the person another', () => {
  const servers = sharedSmsServer({ env: oneMailbox })

  test('address: nobody can ask for it once more', async () => {
    const server = await servers()
    const { app } = server
    const [wanted, given] = [newAddress('thief'), newAddress('given')]
    const person = await confirmedPerson(server)
    await mailAfter(server, wanted, () => changeUser(app, person.access_token, { email: wanted }))
    await asAdmin(app, 'PUT', `/admin/users/${person.user.id}`, { email: given })
    await call(app, '/resend', { type: 'email_change', email: given })
    await idle(server)
    assert.equal(server.mail.messages.filter(({ to }) => to === wanted).length, 1)
  })

  test('number: nobody can ask for it once more', async () => {
    const server = await servers()
    const { app, sms } = server
    const [wanted, given] = [newNumber(), newNumber()]
    const { access_token, user } = await phonePerson(server)
    await codeAfter(server, wanted, () => changeUser(app, access_token, { phone: wanted }))
    await asAdmin(app, 'PUT', `/admin/users/${user.id}`, { phone: given })
    await call(app, '/resend', { type: 'phone_change', phone: given })
    await idle(server)
    assert.equal(sms.messages.filter(({ to }) => to.endsWith(wanted)).length, 1)
  })
})

suite('a change of the number that a stolen session began', () => {
  const servers = sharedSmsServer({ env: { AUTH_SMS_OTP_EXP: '3600' } })

  for (const [name, signOut] of Object.entries(signOuts)) {
    test(`is over after ${name}`, async () => {
      const server = await servers()
      const { app, sms } = server
      const [phone, wanted] = [newNumber(), newNumber()]
      const own = await phonePerson(server, phone)
      const stolen: Session = answerOf(await signIn(app, { phone }))
      const token = await codeAfter(server, wanted, () =>
        changeUser(app, stolen.access_token, { phone: wanted }),
      )
      const ended = await signOut(app, own)
      assert.ok([200, 204].includes(ended.statusCode), ended.body)
      const typed = await verify(app, { type: 'phone_change', phone: wanted, token })
      assert.deepEqual(outcomeOf(typed), [403, 'otp_expired'])
      await call(app, '/resend', { type: 'phone_change', phone })
      await idle(server)
      assert.equal(sms.messages.filter(({ to }) => to.endsWith(wanted)).length, 1)
    })
  }
})

suite('an address that a stolen session began to add', () => {
  const servers = sharedSmsServer({ env: { AUTH_SMTP_MAX_FREQUENCY: '0' } })

  for (const [name, signOut] of Object.entries(signOuts)) {
    test(`is given up by ${name}, where only the new mailbox is asked`, async () => {
      const server = await servers()
      const { app } = server
      const [phone, wanted] = [newNumber(), newAddress('thief')]
      const own = await phonePerson(server, phone)
      const stolen: Session = answerOf(await signIn(app, { phone }))
      const mail = await mailAfter(server, wanted, () =>
        changeUser(app, stolen.access_token, { email: wanted }),
      )
      const ended = await signOut(app, own)
      assert.ok([200, 204].includes(ended.statusCode), ended.body)
      assert.equal(landing(await open(app, mail)).fragment.error_code, 'otp_expired')
      const found = await app.db
        .selectFrom('users')
        .select(['email', 'email_change'])
        .where('id', '=', own.user.id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(found, { email: null, email_change: '' })
    })
  }

  test('stays where the current mailbox has to agree', async () => {
    const server = await servers()
    const { app } = server
    const [email, wanted] = [newAddress(), newAddress('new')]
    const own = await confirmedPerson(server, email)
    const since = server.mail.messages.length
    const mail = await mailAfter(server, wanted, () =>
      changeUser(app, own.access_token, { email: wanted }),
    )
    const current = await nextMail(server, email, since)
    await logout('global')(app, own)
    await open(app, mail)
    assert.ok(landing(await open(app, current)).fragment.access_token)
  })
})

suite('a change that somebody began at an address that is not theirs', () => {
  const servers = sharedExternalServers()

  test('nobody can ask for it once more when its owner has proven the address', async () => {
    const server = await servers(oneMailbox)
    const { app } = server
    const [victim, wanted] = [newAddress('victim'), newAddress('thief')]
    const thief = await confirmedPerson(server)
    await link(server, thief, 'github', unproven(victim, nextId()))
    await unlink(server, thief, identityId(await userOf(server, thief), 'email'))
    await mailAfter(server, wanted, () => changeUser(app, thief.access_token, { email: wanted }))

    const came = await server.signInWith('gitlab', proven(victim, nextId()))
    assert.equal(decodeJwt(came.fragment.access_token ?? '').email, victim)
    await call(app, '/resend', { type: 'email_change', email: victim })
    await idle(server)
    assert.equal(server.mail.messages.filter(({ to }) => to === wanted).length, 1)
  })
})

async function newPassword(app: App, own: Session, who: string) {
  const password = 'something quite new'
  const answer =
    who === 'an admin'
      ? await asAdmin(app, 'PUT', `/admin/users/${own.user.id}`, { password })
      : await changeUser(app, own.access_token, { password })
  assert.equal(answer.statusCode, 200, answer.body)
}
