/**
 * An address that nobody has proven, and then a number: whoever proves the address would get an account that the number
 * opens, too.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import { endingOfSuite } from '../support/ending.ts'
import { type ExternalServer, externalServer, proven, unproven } from '../support/external.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import { confirmedPerson, newAddress, newNumber, signUp } from '../support/people.ts'
import { codeAfter } from '../support/phone-journeys.ts'
import { call, changeUser, outcomeOf, verify } from '../support/requests.ts'
import { startSmsServer } from '../support/sms-server.ts'

type Squat = (server: ExternalServer, email: string) => Promise<Session>

/** Somebody with a session and the address of somebody else. */
const squats: Record<string, { env: Record<string, string>; squat: Squat }> = {
  'from an identity that took the place of another': { env: {}, squat: promoted },
  'from a sign-up that lets people in before they confirm': {
    env: { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
    async squat({ app }, email) {
      await signUp(app, { email })
      const payload = { email, password: 'correct horse battery' }
      return (await call(app, '/token?grant_type=password', payload)).json()
    },
  },
}

suite('an unproven address, and then a number', () => {
  const ending = endingOfSuite()
  const started = startSmsServer()
  ending.after(async () => (await started).stop())

  for (const [name, { env, squat }] of Object.entries(squats)) {
    test(`${name}: the number does not open the account of whoever proves the address`, async (t) => {
      const sms = await started
      const server = await externalServer(t, { env: { ...sms.env, ...env } })
      const { app } = server
      const [victim, phone] = [newAddress('victim'), newNumber()]
      const mallory = await squat(server, victim)
      const asked = await changeUser(app, mallory.access_token, { phone })
      assert.deepEqual(outcomeOf(asked), [422, 'email_not_confirmed'])
      assert.deepEqual(
        sms.messages.filter(({ to }) => to.endsWith(phone)),
        [],
      )

      const came = await server.signInWith('gitlab', proven(victim, nextId()))
      const { sub } = decodeJwt(came.fragment.access_token ?? '')
      const code = await codeAfter({ ...server, sms }, phone, () => call(app, '/otp', { phone }))
      const other = (await verify(app, { type: 'sms', phone, token: code })).json<Session>()
      assert.notEqual(other.user.id, sub)
    })
  }
})

suite('a proven number, and then an address', () => {
  test('one that nobody has proven does not become the account’s', async (t) => {
    const server = await externalServer(t)
    const session = await confirmedPerson(server)
    const proof = { phone: newNumber(), phone_confirm: true }
    await adminCall(server.app, 'PUT', `/admin/users/${session.user.id}`, proof)
    await link(server, session, 'github', unproven(newAddress('victim'), nextId()))
    // GoTrue keeps what a sign-up by phone says of an address.
    const said = JSON.stringify({ email: newAddress('victim'), email_verified: true })
    await server.app.pool.query(
      `update auth.identities set identity_data = identity_data || $2 where user_id = $1 and provider = 'phone'`,
      [session.user.id, said],
    )
    const own = identityId(await userOf(server, session), 'email')
    assert.equal((await unlink(server, session, own)).statusCode, 200)
    const { email, phone } = await userOf(server, session)
    assert.deepEqual([email, phone], ['', proof.phone])
  })
})

/** Takes the own address away, so that the one of an identity becomes the account's. */
async function promoted(server: ExternalServer, email: string): Promise<Session> {
  const session = await confirmedPerson(server)
  await link(server, session, 'github', unproven(email, nextId()))
  const own = identityId(await userOf(server, session), 'email')
  assert.equal((await unlink(server, session, own)).statusCode, 200)
  const user = await userOf(server, session)
  assert.deepEqual([user.email, user.email_confirmed_at], [email, undefined])
  return session
}
