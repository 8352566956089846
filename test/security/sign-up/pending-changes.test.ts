/** Email and phone changes started by an attacker, after the user revoked the attacker’s session. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import {
  emailAfter,
  nextEmail,
  open,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import { codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, statusAndCode, verify } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import {
  bodyOf200,
  confirmedUser,
  newAddress,
  newNumber,
  phoneUser,
  signedIn,
  signIn,
} from '../../support/users.ts'

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
  'a global logout': logout('global'),
  'a logout of other sessions': logout('others'),
  'a logout by an admin': (app, { user }) =>
    asAdmin(app, 'DELETE', `/admin/users/${user.id}/sessions`),
}

suite('change started by a stolen session', () => {
  const servers = sharedSmsServer({ env: oneMailbox })
  for (const who of ['the owner', 'an admin']) {
    test(`of the email cannot be resent after a new password set by ${who}`, async () => {
      const server = await servers()
      const { app } = server
      const [email, newValue] = [newAddress('owner'), newAddress('attacker')]
      const own = await confirmedUser(server, email)
      const stolen = await signedIn(app, email)
      await emailAfter(server, newValue, () =>
        changeUser(app, stolen.access_token, { email: newValue }),
      )
      await newPassword(server.app, own, who)
      const resent = await call(app, '/resend', { type: 'email_change', email })
      assert.equal(resent.statusCode, 200)
      await waitForIdleQueue(server)
      assert.equal(server.mail.messages.filter(({ to }) => to === newValue).length, 1)
    })

    test(`of the phone cannot be resent after a new password set by ${who}`, async () => {
      const server = await servers()
      const { app, sms } = server
      const [phone, newValue] = [newNumber(), newNumber()]
      const own = await phoneUser(server, phone)
      const stolen: Session = bodyOf200(await signIn(app, { phone }))
      await codeAfter(server, newValue, () =>
        changeUser(app, stolen.access_token, { phone: newValue }),
      )
      await newPassword(server.app, own, who)
      await call(app, '/resend', { type: 'phone_change', phone })
      await waitForIdleQueue(server)
      assert.equal(sms.messages.filter(({ to }) => to.endsWith(newValue)).length, 1)
    })
  }
})

suite('pending change when an admin sets another value', () => {
  const servers = sharedSmsServer({ env: oneMailbox })

  test('of the email cannot be resent', async () => {
    const server = await servers()
    const { app } = server
    const [newValue, given] = [newAddress('attacker'), newAddress('given')]
    const user = await confirmedUser(server)
    await emailAfter(server, newValue, () =>
      changeUser(app, user.access_token, { email: newValue }),
    )
    await asAdmin(app, 'PUT', `/admin/users/${user.user.id}`, { email: given })
    await call(app, '/resend', { type: 'email_change', email: given })
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.filter(({ to }) => to === newValue).length, 1)
  })

  test('of the phone cannot be resent', async () => {
    const server = await servers()
    const { app, sms } = server
    const [newValue, given] = [newNumber(), newNumber()]
    const { access_token, user } = await phoneUser(server)
    await codeAfter(server, newValue, () => changeUser(app, access_token, { phone: newValue }))
    await asAdmin(app, 'PUT', `/admin/users/${user.id}`, { phone: given })
    await call(app, '/resend', { type: 'phone_change', phone: given })
    await waitForIdleQueue(server)
    assert.equal(sms.messages.filter(({ to }) => to.endsWith(newValue)).length, 1)
  })
})

suite('phone change started by a stolen session', () => {
  const servers = sharedSmsServer({ env: { AUTH_SMS_OTP_EXP: '3600' } })

  for (const [name, signOut] of Object.entries(signOuts)) {
    test(`is voided by ${name}`, async () => {
      const server = await servers()
      const { app, sms } = server
      const [phone, newValue] = [newNumber(), newNumber()]
      const own = await phoneUser(server, phone)
      const stolen: Session = bodyOf200(await signIn(app, { phone }))
      const token = await codeAfter(server, newValue, () =>
        changeUser(app, stolen.access_token, { phone: newValue }),
      )
      const ended = await signOut(app, own)
      assert.ok([200, 204].includes(ended.statusCode), ended.body)
      const typed = await verify(app, { type: 'phone_change', phone: newValue, token })
      assert.deepEqual(statusAndCode(typed), [403, 'otp_expired'])
      await call(app, '/resend', { type: 'phone_change', phone })
      await waitForIdleQueue(server)
      assert.equal(sms.messages.filter(({ to }) => to.endsWith(newValue)).length, 1)
    })
  }
})

suite('first email requested by a stolen session', () => {
  const servers = sharedSmsServer({ env: { AUTH_SMTP_MAX_FREQUENCY: '0' } })

  for (const [name, signOut] of Object.entries(signOuts)) {
    test(`is voided by ${name} when only the new email confirms`, async () => {
      const server = await servers()
      const { app } = server
      const [phone, newValue] = [newNumber(), newAddress('attacker')]
      const own = await phoneUser(server, phone)
      const stolen: Session = bodyOf200(await signIn(app, { phone }))
      const mail = await emailAfter(server, newValue, () =>
        changeUser(app, stolen.access_token, { email: newValue }),
      )
      const ended = await signOut(app, own)
      assert.ok([200, 204].includes(ended.statusCode), ended.body)
      assert.equal(redirectParams(await open(app, mail)).fragment.error_code, 'otp_expired')
      const found = await app.db
        .selectFrom('users')
        .select(['email', 'email_change'])
        .where('id', '=', own.user.id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(found, { email: null, email_change: '' })
    })
  }

  test('is kept when the current email has to confirm', async () => {
    const server = await servers()
    const { app } = server
    const [email, newValue] = [newAddress(), newAddress('new')]
    const own = await confirmedUser(server, email)
    const since = server.mail.messages.length
    const mail = await emailAfter(server, newValue, () =>
      changeUser(app, own.access_token, { email: newValue }),
    )
    const current = await nextEmail(server, email, since)
    await logout('global')(app, own)
    await open(app, mail)
    assert.ok(redirectParams(await open(app, current)).fragment.access_token)
  })
})

suite('email change started by a squatter', () => {
  const servers = sharedExternalServers()

  test('cannot be resent once the owner has verified the email', async () => {
    const server = await servers(oneMailbox)
    const { app } = server
    const [victim, newValue] = [newAddress('victim'), newAddress('attacker')]
    const attacker = await confirmedUser(server)
    await link(server, attacker, 'github', unverifiedProfile(victim, nextId()))
    await unlink(server, attacker, identityId(await fetchUser(server, attacker), 'email'))
    await emailAfter(server, newValue, () =>
      changeUser(app, attacker.access_token, { email: newValue }),
    )

    const came = await server.signInWith('gitlab', verifiedProfile(victim, nextId()))
    assert.equal(decodeJwt(came.fragment.access_token ?? '').email, victim)
    await call(app, '/resend', { type: 'email_change', email: victim })
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.filter(({ to }) => to === newValue).length, 1)
  })
})

async function newPassword(app: App, own: Session, who: string) {
  const password = 'something quite new'
  const response =
    who === 'an admin'
      ? await asAdmin(app, 'PUT', `/admin/users/${own.user.id}`, { password })
      : await changeUser(app, own.access_token, { password })
  assert.equal(response.statusCode, 200, response.body)
}
