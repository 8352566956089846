/** A session reaches aal2 by factors of two classes: not by two codes sent to phones, nor by a passkey and a security key. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import {
  challenge,
  type Enrolled,
  everyFactor,
  request,
  send,
  tokenClaims,
} from '../../support/factors/factors.ts'
import { userWithSecurityKey } from '../../support/factors/key-journeys.ts'
import { passkeysOn, signInBy, userWithPasskey } from '../../support/factors/passkeys.ts'
import {
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { bodyOf200, newNumber, phoneUser, signedIn, signIn } from '../../support/users.ts'

const sameClass = [403, 'insufficient_aal']

suite('two classes of factors for aal2', () => {
  const texting = sharedSmsServer({ env: everyFactor })

  test('rejects a phone factor in a session created by SMS, for each number', async () => {
    const server = await texting()
    const phone = newNumber()
    const first = await phoneUser(server, phone)
    for (const number of [phone, newNumber()]) {
      const factor = await enrolPhone(server, first, number)
      const since = server.sms.messages.length
      const pending = await send(server.app, 'POST', `/factors/${factor.id}/challenge`, first)
      assert.deepEqual(statusAndCode(pending), sameClass)
      assert.equal(server.sms.messages.length, since, 'no message is sent in vain')
      await send(server.app, 'DELETE', `/factors/${factor.id}`, first)
    }
  })

  test('rejects the verification of a phone factor in a session created by SMS', async () => {
    const server = await texting()
    const phone = newNumber()
    const first = await phoneUser(server, phone)
    await setOpenedBySms(server, false)
    const factor = await enrolPhone(server, first, phone)
    const { id, code } = await fetchCode(server, first, factor.id, phone)
    await setOpenedBySms(server, true)
    const responded = await send(server.app, 'POST', `/factors/${factor.id}/verify`, first, {
      challenge_id: id,
      code,
    })
    assert.deepEqual(statusAndCode(responded), sameClass)
  })

  test('accepts a phone factor in a session created by password', async () => {
    const server = await texting()
    const phone = newNumber()
    await phoneUser(server, phone)
    const session: Session = bodyOf200(await signIn(server.app, { phone }))
    const factor = await enrolPhone(server, session, phone)
    const { id, code } = await fetchCode(server, session, factor.id, phone)
    const body = { challenge_id: id, code }
    const path = `/factors/${factor.id}/verify`
    const steppedUp = await request<Session>(server.app, 'POST', path, session, body)
    assert.equal(tokenClaims(steppedUp).aal, 'aal2')

    const again = await signInBySms(server, phone)
    const pending = await send(server.app, 'POST', `/factors/${factor.id}/challenge`, again)
    assert.deepEqual(statusAndCode(pending), sameClass)
  })

  test('rejects a security key in a session created by a passkey', async (t) => {
    const { app } = await build(t, { env: { ...everyFactor, ...passkeysOn } })
    const { user, device } = await userWithPasskey(app)
    const { id } = await userWithSecurityKey(app, user)
    const path = `/factors/${id}/challenge`
    const byPasskey = await signInBy(app, device)
    assert.deepEqual(statusAndCode(await send(app, 'POST', path, byPasskey)), sameClass)
    const byPassword = await signedIn(app, user.email)
    assert.equal((await send(app, 'POST', path, byPassword)).statusCode, 200)
  })
})

const enrolPhone = ({ app }: PhoneServer, session: Session, phone: string) =>
  request<Enrolled>(app, 'POST', '/factors', session, { factor_type: 'phone', phone })

async function fetchCode(server: PhoneServer, session: Session, factorId: string, phone: string) {
  const since = server.sms.messages.length
  const { id } = await challenge(server.app, session, factorId)
  return { id, code: await server.sms.code(phone, since) }
}

async function signInBySms(server: PhoneServer, phone: string): Promise<Session> {
  const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
  return bodyOf200(await verify(server.app, { type: 'sms', phone, token }))
}

/** As if the code had been sent by email. */
async function setOpenedBySms({ app }: PhoneServer, isBySms: boolean): Promise<void> {
  await app.pool.query('update auth.users set email_confirmed_at = now()')
  await app.pool.query('update auth.postern_session_proofs set by_sms = $1', [isBySms])
}
