/**
 * An unverified email followed by a phone: a user who verifies the email would get an account that the phone still
 * signs in to.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import {
  type ExternalServer,
  externalServer,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import { codeAfter } from '../../support/messages/phone-journeys.ts'
import { startSmsServer } from '../../support/messages/sms-server.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { call, changeUser, statusAndCode, verify } from '../../support/requests.ts'
import { confirmedUser, newAddress, newNumber, signUp } from '../../support/users.ts'

type Squat = (server: ExternalServer, email: string) => Promise<Session>

/** A user with a session and the address of another user. */
const squats: Record<string, { env: Record<string, string>; squat: Squat }> = {
  'from an identity that replaced another': { env: {}, squat: promoted },
  'from an unconfirmed sign-up that can sign in': {
    env: { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
    async squat({ app }, email) {
      await signUp(app, { email })
      const payload = { email, password: 'correct horse battery' }
      return (await call(app, '/token?grant_type=password', payload)).json()
    },
  },
}

suite('phone added to an unverified email', () => {
  const ending = endingOfSuite()
  const started = startSmsServer()
  ending.after(async () => (await started).stop())

  for (const [name, { env, squat }] of Object.entries(squats)) {
    test(`${name}: is rejected, so that the email’s owner gets another account`, async (t) => {
      const sms = await started
      const server = await externalServer(t, { env: { ...sms.env, ...env } })
      const { app } = server
      const [victim, phone] = [newAddress('victim'), newNumber()]
      const mallory = await squat(server, victim)
      const pending = await changeUser(app, mallory.access_token, { phone })
      assert.deepEqual(statusAndCode(pending), [422, 'email_not_confirmed'])
      assert.deepEqual(
        sms.messages.filter(({ to }) => to.endsWith(phone)),
        [],
      )

      const came = await server.signInWith('gitlab', verifiedProfile(victim, nextId()))
      const { sub } = decodeJwt(came.fragment.access_token ?? '')
      const code = await codeAfter({ ...server, sms }, phone, () => call(app, '/otp', { phone }))
      const other = (await verify(app, { type: 'sms', phone, token: code })).json<Session>()
      assert.notEqual(other.user.id, sub)
    })
  }
})

suite('email added to a verified phone', () => {
  test('does not become the account’s email while unverified', async (t) => {
    const server = await externalServer(t)
    const session = await confirmedUser(server)
    const verification = { phone: newNumber(), phone_confirm: true }
    await adminCall(server.app, 'PUT', `/admin/users/${session.user.id}`, verification)
    await link(server, session, 'github', unverifiedProfile(newAddress('victim'), nextId()))
    // GoTrue stores the email claims of a phone sign-up.
    const output = JSON.stringify({ email: newAddress('victim'), email_verified: true })
    await server.app.pool.query(
      `update auth.identities set identity_data = identity_data || $2 where user_id = $1 and provider = 'phone'`,
      [session.user.id, output],
    )
    const own = identityId(await fetchUser(server, session), 'email')
    assert.equal((await unlink(server, session, own)).statusCode, 200)
    const { email, phone } = await fetchUser(server, session)
    assert.deepEqual([email, phone], ['', verification.phone])
  })
})

/** Unlinks the account’s email so that the identity’s email replaces it. */
async function promoted(server: ExternalServer, email: string): Promise<Session> {
  const session = await confirmedUser(server)
  await link(server, session, 'github', unverifiedProfile(email, nextId()))
  const own = identityId(await fetchUser(server, session), 'email')
  assert.equal((await unlink(server, session, own)).statusCode, 200)
  const user = await fetchUser(server, session)
  assert.deepEqual([user.email, user.email_confirmed_at], [email, undefined])
  return session
}
