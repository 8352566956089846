/**
 * MFA and session-end bypasses: changing the email by linking and unlinking, verifying a factor that was deleted or got
 * another number, setting a first password by an emailed code.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { externalServer, verifiedProfile } from '../../support/external.ts'
import {
  addTotp,
  challenge,
  everyFactor,
  request,
  send,
  stepUp,
  userWithTotp,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import { browserOptions, userWithSecurityKey } from '../../support/factors/key-journeys.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { startSmsServer } from '../../support/messages/sms-server.ts'
import { bearer, call, statusAndCode, verify } from '../../support/requests.ts'
import {
  bodyOf200,
  confirmedUser,
  newAddress,
  newNumber,
  phoneUser,
  signedIn,
  signIn,
  signUpUser,
} from '../../support/users.ts'

const linking = { ...everyFactor, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' }

suite('MFA bypass', () => {
  const texting = sharedSmsServer({ env: everyFactor })

  test('rejects an email change by linking and unlinking at aal1', async (t) => {
    const server = await externalServer(t, {
      env: {
        ...linking,
        AUTH_MAILER_AUTOCONFIRM: 'false',
        AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
      },
    })
    const { app } = server
    const user = await confirmedUser(server)
    const { email = '' } = user.user
    const aal2 = await stepUp(app, user, await addTotp(app, user))
    const aal1 = await signedIn(app, email)
    const [other, spare] = [newAddress('other'), newAddress('spare')]
    await link(server, aal2, 'github', verifiedProfile(other, nextId()))
    await link(server, aal2, 'gitlab', verifiedProfile(spare, nextId()))
    const mine = await fetchUser(server, aal1)

    const rejected = await unlink(server, aal1, identityId(mine, 'email'))
    assert.deepEqual(statusAndCode(rejected), [401, 'insufficient_aal'])
    assert.equal((await fetchUser(server, aal1)).email, email)
    const spared = await unlink(server, aal1, identityId(mine, 'gitlab'))
    assert.deepEqual(statusAndCode(spared), [401, 'insufficient_aal'])

    const notification = await emailAfter(server, email, () =>
      unlink(server, aal2, identityId(mine, 'email')),
    )
    assert.equal((await fetchUser(server, aal2)).email, other)
    assert.match(notification.mail.subject ?? '', /email address (has been|was) changed/i)
  })

  test('rejects a first email from an identity at aal1', async (t) => {
    const sms = await startSmsServer()
    t.after(sms.stop)
    const server = await externalServer(t, { env: { ...linking, ...sms.env } })
    const { app } = server
    const phone = newNumber()
    const user = await phoneUser({ ...server, sms }, phone)
    const aal2 = await stepUp(app, user, await addTotp(app, user))
    const aal1: Session = bodyOf200(await signIn(app, { phone }))
    const first = newAddress('first')

    const url = '/user/identities/authorize?provider=github'
    const rejected = await app.inject({ url, headers: bearer(aal1) })
    assert.deepEqual(statusAndCode(rejected), [401, 'insufficient_aal'])
    assert.equal((await fetchUser(server, aal1)).email, '')
    assert.equal((await fetchUser(server, aal1)).identities?.length, 1)

    await link(server, aal2, 'github', verifiedProfile(first, nextId()))
    assert.equal((await fetchUser(server, aal2)).email, first)
  })

  test('rejects unlink and unenroll after the session was revoked', async (t) => {
    const server = await externalServer(t, { env: linking })
    const { app } = server
    const user = await signUpUser(app)
    await link(server, user, 'github', verifiedProfile(newAddress('other'), nextId()))
    const factor = await addTotp(app, user)
    const aal2 = await stepUp(app, user, factor)
    const github = identityId(await fetchUser(server, aal2), 'github')
    const { id } = user.user

    const lock = await lockUserRow(app, id)
    const ended = await lock.queue(1, () => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`))
    const unlinked = await lock.queue(2, () => unlink(server, aal2, github))
    const unenrolled = await lock.queue(3, () => send(app, 'DELETE', `/factors/${factor.id}`, aal2))
    await lock.release()

    assert.equal((await ended.response).statusCode, 204)
    assert.deepEqual(statusAndCode(await unlinked.response), [403, 'session_not_found'])
    assert.deepEqual(statusAndCode(await unenrolled.response), [403, 'session_not_found'])
  })

  test('rejects a challenge response when the factor was deleted concurrently', async () => {
    const { app } = await texting()
    const { session, email, factor } = await userWithTotp(app)
    const aal1 = await signedIn(app, email)
    const pending = await challenge(app, aal1, factor.id)

    const lock = await lockUserRow(app, session.user.id)
    const removed = await lock.queue(1, () => send(app, 'DELETE', `/factors/${factor.id}`, session))
    const verification = { challenge_id: pending.id, code: factor.code(1) }
    const responded = await lock.queue(2, () => verifyChallenge(app, aal1, factor.id, verification))
    await lock.release()

    assert.equal((await removed.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await responded.response), [404, 'mfa_factor_not_found'])
  })

  test('rejects a response by a security key that an admin deletes concurrently', async () => {
    const { app } = await texting()
    const first = await userWithSecurityKey(app)
    const second = await userWithSecurityKey(app, first.session, 'second')
    const { id, email = '' } = second.session.user
    const aal1 = await signedIn(app, email)
    const pending = await challenge(app, aal1, first.id)
    const given = second.key.get(browserOptions(pending))

    const lock = await lockUserRow(app, id)
    const removed = await lock.queue(1, () =>
      asAdmin(app, 'DELETE', `/admin/users/${id}/factors/${second.id}`),
    )
    const verification = { type: 'request', credential_response: given }
    const responded = await lock.queue(2, () =>
      verifyChallenge(app, aal1, first.id, { challenge_id: pending.id, webauthn: verification }),
    )
    await lock.release()

    assert.equal((await removed.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await responded.response), [404, 'mfa_factor_not_found'])
  })

  test('rejects a code sent to the number before an admin changed it', async () => {
    const { app, sms } = await texting()
    const user = await signUpUser(app)
    const [before, after] = [newNumber(), newNumber()]
    const enrolment = { factor_type: 'phone', phone: `+${before}` }
    const { id } = await request<{ id: string }>(app, 'POST', '/factors', user, enrolment)
    const enrolled = await challenge(app, user, id)
    const first = { challenge_id: enrolled.id, code: await sms.code(before) }
    assert.equal((await verifyChallenge(app, user, id, first)).statusCode, 200)

    const aal1 = await signedIn(app, user.email)
    const since = sms.messages.length
    const pending = await challenge(app, aal1, id)
    const code = await sms.code(before, since)
    const path = `/admin/users/${user.user.id}/factors/${id}`
    assert.equal((await asAdmin(app, 'PUT', path, { phone: `+${after}` })).statusCode, 200)

    const responded = await verifyChallenge(app, aal1, id, { challenge_id: pending.id, code })
    assert.deepEqual(statusAndCode(responded), [422, 'mfa_factor_not_found'])
  })

  test('rejects a first password by an emailed code when the user has a factor', async (t) => {
    const server = await externalServer(t, {
      env: { ...everyFactor, AUTH_MAILER_AUTOCONFIRM: 'false' },
    })
    const { app } = server
    const email = newAddress()
    const asked = () => emailAfter(server, email, () => call(app, '/otp', { email }))
    const own = (await verify(app, { type: 'email', email, token: codeIn(await asked()) })).json()
    await stepUp(app, own, await addTotp(app, own))

    const password = 'a password of another user'
    const verification = { type: 'email', email, token: codeIn(await asked()), password }
    assert.equal((await verify(app, verification)).statusCode, 200)

    const signIn = await call(app, '/token?grant_type=password', { email, password })
    assert.deepEqual(statusAndCode(signIn), [400, 'invalid_credentials'])
  })
})
