/**
 * Ways around the second factor, or around the end of a session: a change of the address by linking and unlinking, a
 * factor that is gone or has another number by the time it is answered, a first password by a mailed code.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import { externalServer, proven } from '../support/external.ts'
import {
  addTotp,
  answer,
  ask,
  challenge,
  everyFactor,
  guarded,
  prove,
  send,
} from '../support/factors.ts'
import { holdPerson } from '../support/held-person.ts'
import { optionsOf, withKey } from '../support/key-journeys.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  answerOf,
  confirmedPerson,
  newAddress,
  newNumber,
  newPerson,
  phonePerson,
  signedIn,
  signIn,
} from '../support/people.ts'
import { buildWithSms } from '../support/phone-journeys.ts'
import { call, outcomeOf, verify } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { startSmsServer } from '../support/sms-server.ts'

const linking = { ...everyFactor, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' }

suite('around the second factor', () => {
  test('linking and unlinking changes the address only where a change of the address may', async (t) => {
    const server = await externalServer(t, {
      env: {
        ...linking,
        AUTH_MAILER_AUTOCONFIRM: 'false',
        AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
      },
    })
    const { app } = server
    const person = await confirmedPerson(server)
    const { email = '' } = person.user
    const high = await prove(app, person, await addTotp(app, person))
    const low = await signedIn(app, email)
    const [other, spare] = [newAddress('other'), newAddress('spare')]
    await link(server, low, 'github', proven(other, nextId()))
    await link(server, low, 'gitlab', proven(spare, nextId()))
    const mine = await userOf(server, low)

    const refused = await unlink(server, low, identityId(mine, 'email'))
    assert.deepEqual(outcomeOf(refused), [401, 'insufficient_aal'])
    assert.equal((await userOf(server, low)).email, email)
    // What the account's address does not come from is as it was.
    assert.equal((await unlink(server, low, identityId(mine, 'gitlab'))).statusCode, 200)

    const told = await mailAfter(server, email, () =>
      unlink(server, high, identityId(mine, 'email')),
    )
    assert.equal((await userOf(server, high)).email, other)
    assert.match(told.mail.subject ?? '', /email address (has been|was) changed/i)
  })

  test('an identity gives a first address only where a change of the address may', async (t) => {
    const sms = await startSmsServer()
    t.after(sms.stop)
    const server = await externalServer(t, { env: { ...linking, ...sms.env } })
    const { app } = server
    const phone = newNumber()
    const person = await phonePerson({ ...server, sms }, phone)
    const high = await prove(app, person, await addTotp(app, person))
    const low: Session = answerOf(await signIn(app, { phone }))
    const first = newAddress('first')

    const refused = await link(server, low, 'github', proven(first, nextId()))
    assert.equal(refused.query.error_code, 'insufficient_aal')
    assert.equal((await userOf(server, low)).email, '')
    assert.equal((await userOf(server, low)).identities?.length, 1)

    await link(server, high, 'github', proven(first, nextId()))
    assert.equal((await userOf(server, high)).email, first)
    // The address is there now, so that further identities change nothing of it.
    await link(server, low, 'gitlab', proven(newAddress('other'), nextId()))
    assert.equal((await userOf(server, low)).identities?.length, 3)
  })

  test('whoever was signed out meanwhile removes neither identity nor factor', async (t) => {
    const server = await externalServer(t, { env: linking })
    const { app } = server
    const person = await newPerson(app)
    await link(server, person, 'github', proven(newAddress('other'), nextId()))
    const factor = await addTotp(app, person)
    const high = await prove(app, person, factor)
    const github = identityId(await userOf(server, high), 'github')
    const { id } = person.user

    const held = await holdPerson(app, id)
    const ended = await held.queue(1, () => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`))
    const unlinked = await held.queue(2, () => unlink(server, high, github))
    const unenrolled = await held.queue(3, () => send(app, 'DELETE', `/factors/${factor.id}`, high))
    await held.release()

    assert.equal((await ended.answer).statusCode, 204)
    assert.deepEqual(outcomeOf(await unlinked.answer), [403, 'session_not_found'])
    assert.deepEqual(outcomeOf(await unenrolled.answer), [403, 'session_not_found'])
  })

  test('a factor that is removed while it is answered proves nothing', async (t) => {
    const { app } = await build(t, { env: everyFactor })
    const { session, email, factor } = await guarded(app)
    const low = await signedIn(app, email)
    const asked = await challenge(app, low, factor.id)

    const held = await holdPerson(app, session.user.id)
    const removed = await held.queue(1, () => send(app, 'DELETE', `/factors/${factor.id}`, session))
    const proof = { challenge_id: asked.id, code: factor.code(1) }
    const answered = await held.queue(2, () => answer(app, low, factor.id, proof))
    await held.release()

    assert.equal((await removed.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await answered.answer), [404, 'mfa_factor_not_found'])
  })

  test('nor does another key of the person, that an admin removes while it answers', async (t) => {
    const { app } = await build(t, { env: everyFactor })
    const first = await withKey(app)
    const second = await withKey(app, first.session, 'second')
    const { id, email = '' } = second.session.user
    const low = await signedIn(app, email)
    const asked = await challenge(app, low, first.id)
    const given = second.key.get(optionsOf(asked))

    const held = await holdPerson(app, id)
    const removed = await held.queue(1, () =>
      asAdmin(app, 'DELETE', `/admin/users/${id}/factors/${second.id}`),
    )
    const proof = { type: 'request', credential_response: given }
    const answered = await held.queue(2, () =>
      answer(app, low, first.id, { challenge_id: asked.id, webauthn: proof }),
    )
    await held.release()

    assert.equal((await removed.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await answered.answer), [404, 'mfa_factor_not_found'])
  })

  test('a code that was sent to the number before an admin changed it proves nothing', async (t) => {
    const { app, sms } = await buildWithSms(t, { env: everyFactor })
    const person = await newPerson(app)
    const [before, after] = [newNumber(), newNumber()]
    const enrolment = { factor_type: 'phone', phone: `+${before}` }
    const { id } = await ask<{ id: string }>(app, 'POST', '/factors', person, enrolment)
    const enrolled = await challenge(app, person, id)
    const first = { challenge_id: enrolled.id, code: await sms.code(before) }
    assert.equal((await answer(app, person, id, first)).statusCode, 200)

    const low = await signedIn(app, person.email)
    const since = sms.messages.length
    const asked = await challenge(app, low, id)
    const code = await sms.code(before, since)
    const path = `/admin/users/${person.user.id}/factors/${id}`
    assert.equal((await asAdmin(app, 'PUT', path, { phone: `+${after}` })).statusCode, 200)

    const answered = await answer(app, low, id, { challenge_id: asked.id, code })
    assert.deepEqual(outcomeOf(answered), [422, 'mfa_factor_not_found'])
  })

  test('a mailed code sets no first password beside a second factor', async (t) => {
    const server = await externalServer(t, {
      env: { ...everyFactor, AUTH_MAILER_AUTOCONFIRM: 'false' },
    })
    const { app } = server
    const email = newAddress()
    const asked = () => mailAfter(server, email, () => call(app, '/otp', { email }))
    const own = (await verify(app, { type: 'email', email, token: codeIn(await asked()) })).json()
    await prove(app, own, await addTotp(app, own))

    const password = 'a password of somebody else'
    const proof = { type: 'email', email, token: codeIn(await asked()), password }
    assert.equal((await verify(app, proof)).statusCode, 200)

    const signIn = await call(app, '/token?grant_type=password', { email, password })
    assert.deepEqual(outcomeOf(signIn), [400, 'invalid_credentials'])
  })
})
