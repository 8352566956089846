/** A password in an old session needs a code, which GET /reauthenticate sends. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { mailAfter, tokenOf } from '../../support/mail-journeys.ts'
import { codeIn } from '../../support/mail-links.ts'
import { anonymousPerson, confirmedPerson, password, signIn } from '../../support/people.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const other = 'something else entirely'
const dayMs = 24 * 60 * 60 * 1000

const askNonce = ({ app }: Built, token: string) =>
  call(app, '/reauthenticate', undefined, { token })

/** Moves the opening of all sessions of a person into the past. */
async function age({ app }: Built, userId: string, ms: number): Promise<void> {
  const created_at = new Date(Date.now() - ms)
  await app.db.updateTable('sessions').set({ created_at }).where('user_id', '=', userId).execute()
}

suite('a password that needs a code', () => {
  const servers = sharedServers()
  const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }

  /** Somebody whose session is older than a day. */
  async function longSignedIn(server: Built) {
    const person = await confirmedPerson(server)
    await age(server, person.user.id, dayMs + 1000)
    return person
  }

  test('is set with the mailed one, which works once', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const needed = await changeUser(server.app, token, { password: other })
    assert.deepEqual(
      [needed.statusCode, needed.json().error_code],
      [400, 'reauthentication_needed'],
    )
    const message = await mailAfter(server, user.email, () => askNonce(server, token))
    const nonce = codeIn(message)
    assert.equal(message.mail.subject, `${nonce} is your verification code`)
    assert.equal((await changeUser(server.app, token, { password: other, nonce })).statusCode, 200)
    const again = await changeUser(server.app, token, { password: `${other}!`, nonce })
    assert.equal(again.json().error_code, 'reauthentication_not_valid')
    assert.equal((await signIn(server.app, { email: user.email, password: other })).statusCode, 200)
  })

  test('needs none in a session younger than a day, so that a recovery can end', async () => {
    const server = await servers(env)
    const { user } = await confirmedPerson(server)
    const { email } = user
    const ask = () => call(server.app, '/recover', { email })
    const message = await mailAfter(server, email, ask)
    const token_hash = tokenOf(message)
    const session = (await verify(server.app, { type: 'recovery', token_hash })).json<Session>()
    const response = await changeUser(server.app, session.access_token, { password: other })
    assert.equal(response.statusCode, 200)
  })

  test("takes no wrong, late or other person's code, and no guessing", async (t) => {
    const server = await servers(env)
    const ann = await longSignedIn(server)
    const bob = await longSignedIn(server)
    const codeOf = async ({ access_token, user }: Session) =>
      codeIn(await mailAfter(server, user.email, () => askNonce(server, access_token)))
    const refused = async (nonce: string) => {
      const response = await changeUser(server.app, ann.access_token, { password: other, nonce })
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [422, 'reauthentication_not_valid'],
      )
    }
    await refused('123456')
    await refused(await codeOf(bob))
    const late = await codeOf(ann)
    for (let guess = 0; guess < 10; guess++) await refused(late === '000000' ? '1' : '000000')
    await refused(late)
    const good = await codeOf(ann)
    await server.app.db
      .updateTable('postern_one_time_tokens')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('token_id', 'in', (eb) =>
        eb.selectFrom('one_time_tokens').select('id').where('user_id', '=', ann.user.id),
      )
      .execute()
    await refused(good)
    t.diagnostic('a code that was replaced is refused as well')
    const replaced = await codeOf(ann)
    const fresh = await codeOf(ann)
    if (replaced !== fresh) await refused(replaced)
    const response = await changeUser(server.app, ann.access_token, {
      password: other,
      nonce: fresh,
    })
    assert.equal(response.statusCode, 200)
  })

  test('a good code is spent even when the password is then refused', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const nonce = codeIn(await mailAfter(server, user.email, () => askNonce(server, token)))
    const same = await changeUser(server.app, token, { password, nonce })
    assert.equal(same.json().error_code, 'same_password')
    const again = await changeUser(server.app, token, { password: other, nonce })
    assert.equal(again.json().error_code, 'reauthentication_not_valid')
  })

  test('the code is for nothing else', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await longSignedIn(server)
    const { email } = user
    const code = codeIn(await mailAfter(server, email, () => askNonce(server, token)))
    for (const type of ['email', 'recovery', 'signup', 'email_change', 'reauthentication']) {
      const response = await verify(server.app, { type, email, token: code })
      assert.equal(response.json().error_code, 'otp_expired')
    }
  })

  test('people without a proven address cannot be asked', async () => {
    const server = await servers({ AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const { access_token: token } = await anonymousPerson(server.app)
    const none = await askNonce(server, token)
    assert.deepEqual([none.statusCode, none.json().error_code], [400, 'validation_failed'])
    const person = await confirmedPerson(server)
    await server.app.db
      .updateTable('users')
      .set({ email_confirmed_at: null })
      .where('id', '=', person.user.id)
      .execute()
    const unproven = await askNonce(server, person.access_token)
    assert.deepEqual(
      [unproven.statusCode, unproven.json().error_code],
      [422, 'email_not_confirmed'],
    )
  })
})
