/** A password change in an old session requires a nonce from GET /reauthenticate. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { emailAfter, emailedToken } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { anonymousUser, confirmedUser, password, signIn } from '../../support/users.ts'

const other = 'something else entirely'
const dayMs = 24 * 60 * 60 * 1000

const requestNonce = ({ app }: Built, token: string) =>
  call(app, '/reauthenticate', undefined, { token })

/** Moves the creation of all sessions of a user into the past. */
async function age({ app }: Built, userId: string, ms: number): Promise<void> {
  const created_at = new Date(Date.now() - ms)
  await app.db.updateTable('sessions').set({ created_at }).where('user_id', '=', userId).execute()
}

suite('AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION', () => {
  const servers = sharedServers()
  const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }

  /** A user whose session is older than a day. */
  async function longSignedIn(server: Built) {
    const user = await confirmedUser(server)
    await age(server, user.user.id, dayMs + 1000)
    return user
  }

  test('accepts the emailed nonce once', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const needed = await changeUser(server.app, token, { password: other })
    assert.deepEqual(
      [needed.statusCode, needed.json().error_code],
      [400, 'reauthentication_needed'],
    )
    const message = await emailAfter(server, user.email, () => requestNonce(server, token))
    const nonce = codeIn(message)
    assert.equal(message.mail.subject, `${nonce} is your verification code`)
    assert.equal((await changeUser(server.app, token, { password: other, nonce })).statusCode, 200)
    const again = await changeUser(server.app, token, { password: `${other}!`, nonce })
    assert.equal(again.json().error_code, 'reauthentication_not_valid')
    assert.equal((await signIn(server.app, { email: user.email, password: other })).statusCode, 200)
  })

  test('does not require a nonce in a session younger than a day', async () => {
    const server = await servers(env)
    const { user } = await confirmedUser(server)
    const { email } = user
    const send = () => call(server.app, '/recover', { email })
    const message = await emailAfter(server, email, send)
    const token_hash = emailedToken(message)
    const session = (await verify(server.app, { type: 'recovery', token_hash })).json<Session>()
    const response = await changeUser(server.app, session.access_token, { password: other })
    assert.equal(response.statusCode, 200)
  })

  test('rejects wrong, expired and foreign nonces and throttles attempts', async (t) => {
    const server = await servers(env)
    const ann = await longSignedIn(server)
    const bob = await longSignedIn(server)
    const fetchCode = async ({ access_token, user }: Session) =>
      codeIn(await emailAfter(server, user.email, () => requestNonce(server, access_token)))
    const rejected = async (nonce: string) => {
      const response = await changeUser(server.app, ann.access_token, { password: other, nonce })
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [422, 'reauthentication_not_valid'],
      )
    }
    await rejected('123456')
    await rejected(await fetchCode(bob))
    const late = await fetchCode(ann)
    for (let attempt = 0; attempt < 10; attempt++) {
      await rejected(late === '000000' ? '1' : '000000')
    }
    await rejected(late)
    const good = await fetchCode(ann)
    await server.app.db
      .updateTable('postern_one_time_tokens')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('token_id', 'in', (eb) =>
        eb.selectFrom('one_time_tokens').select('id').where('user_id', '=', ann.user.id),
      )
      .execute()
    await rejected(good)
    t.diagnostic('a replaced code is rejected as well')
    const replaced = await fetchCode(ann)
    const fresh = await fetchCode(ann)
    if (replaced !== fresh) await rejected(replaced)
    const response = await changeUser(server.app, ann.access_token, {
      password: other,
      nonce: fresh,
    })
    assert.equal(response.statusCode, 200)
  })

  test('consumes the nonce even when the password is rejected', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const nonce = codeIn(await emailAfter(server, user.email, () => requestNonce(server, token)))
    const same = await changeUser(server.app, token, { password, nonce })
    assert.equal(same.json().error_code, 'same_password')
    const again = await changeUser(server.app, token, { password: other, nonce })
    assert.equal(again.json().error_code, 'reauthentication_not_valid')
  })

  test('rejects the nonce as any other code', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const { email } = user
    const code = codeIn(await emailAfter(server, email, () => requestNonce(server, token)))
    for (const type of ['email', 'recovery', 'signup', 'email_change', 'reauthentication']) {
      const response = await verify(server.app, { type, email, token: code })
      assert.equal(response.json().error_code, 'otp_expired')
    }
  })

  test('rejects users without a verified email or phone', async () => {
    const server = await servers({ AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const { access_token: token } = await anonymousUser(server.app)
    const none = await requestNonce(server, token)
    assert.deepEqual([none.statusCode, none.json().error_code], [400, 'validation_failed'])
    const user = await confirmedUser(server)
    await server.app.db
      .updateTable('users')
      .set({ email_confirmed_at: null })
      .where('id', '=', user.user.id)
      .execute()
    const unverified = await requestNonce(server, user.access_token)
    assert.deepEqual(
      [unverified.statusCode, unverified.json().error_code],
      [422, 'email_not_confirmed'],
    )
  })
})
