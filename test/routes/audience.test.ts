/** X-JWT-AUD: everybody belongs to one audience, and a request about another one does not find them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { idle, mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import { adminToken, autoconfirm, newAddress, newNumber, password } from '../support/people.ts'
import { codeAfter, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, outcomeOf, verify } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const headers = { 'x-jwt-aud': 'team' }
const open = { ...autoconfirm, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
const refused = [403, 'otp_expired']
const audOf = ({ access_token }: Session) => decodeJwt(access_token).aud

suite('X-JWT-AUD', () => {
  const servers = sharedServers()
  const smsServer = sharedSmsServer()

  /** Somebody of the other audience, whose mail is proven. */
  async function member() {
    const server = await servers(open)
    const email = newAddress()
    const response = await call(server.app, '/signup', { email, password }, { headers })
    return { ...server, email, session: response.json<Session>() }
  }

  test('a sign-up makes somebody of this audience, and their tokens say so', async () => {
    const { app, session } = await member()
    assert.equal(session.user.aud, 'team')
    assert.equal(audOf(session), 'team')
    const anonymous = (await call(app, '/signup', {}, { headers })).json<Session>()
    assert.equal(audOf(anonymous), 'team')
  })

  test('a password signs in there alone', async () => {
    const { app, email } = await member()
    const ask = (more: object) => call(app, '/token?grant_type=password', { email, password }, more)
    assert.equal(audOf((await ask({ headers })).json()), 'team')
    assert.deepEqual(outcomeOf(await ask({})), [400, 'invalid_credentials'])
  })

  test('/otp, /magiclink, /recover and /resend write to people of this audience alone', async () => {
    const { app, mail, email, config } = await member()
    const paths = ['/otp', '/magiclink', '/recover', '/resend']
    for (const path of paths) {
      const body = path === '/resend' ? { email, type: 'signup' } : { email }
      assert.equal((await call(app, path, body)).statusCode, 200)
    }
    await idle({ app, config })
    assert.deepEqual(
      mail.messages.filter(({ to }) => to === email),
      [],
    )
    for (const path of ['/magiclink', '/recover']) {
      await mailAfter({ mail }, email, () => call(app, path, { email }, { headers }))
    }
    const unknown = await call(app, '/otp', { email, create_user: false })
    assert.deepEqual(outcomeOf(unknown), [422, 'otp_disabled'])
  })

  test('a typed code is good there alone, and stays good after the wrong audience', async () => {
    const { app, mail, email } = await member()
    const message = await mailAfter({ mail }, email, () =>
      call(app, '/recover', { email }, { headers }),
    )
    const proof = { type: 'recovery', email, token: codeIn(message) }
    assert.deepEqual(outcomeOf(await verify(app, proof)), refused)
    const session = (await call(app, '/verify', proof, { headers })).json<Session>()
    assert.equal(audOf(session), 'team')
  })

  test('an unconfirmed sign-up is sent its confirmation again for this audience', async () => {
    const server = await servers()
    const { app } = server
    const email = newAddress()
    const ask = () => call(app, '/signup', { email, password }, { headers })
    await mailAfter(server, email, ask)
    const body = { email, type: 'signup' }
    const message = await mailAfter(server, email, () => call(app, '/resend', body, { headers }))
    const proof = { type: 'signup', email, token: codeIn(message) }
    assert.equal((await call(app, '/verify', proof, { headers })).json<Session>().user.aud, 'team')
  })

  test('a phone code, too', async () => {
    const server = await smsServer()
    const { app } = server
    const phone = newNumber()
    const ask = () => call(app, '/otp', { phone }, { headers })
    const proof = { type: 'sms', phone, token: await codeAfter(server, phone, ask) }
    assert.deepEqual(outcomeOf(await verify(app, proof)), refused)
    const session = (await call(app, '/verify', proof, { headers })).json<Session>()
    assert.equal(audOf(session), 'team')
  })

  test('an address of one audience is nobody’s in another, and cannot be taken there', async () => {
    const { app, email } = await member()
    const response = await call(app, '/signup', { email, password })
    assert.deepEqual(outcomeOf(response), [400, 'user_already_exists'])
  })

  test('an invitation and a generated link make people of this audience', async () => {
    const { app } = await servers()
    const token = await adminToken(app)
    const invite = await call(app, '/invite', { email: newAddress() }, { token, headers })
    assert.equal(invite.json<User>().aud, 'team')
    const email = newAddress()
    const body = { type: 'invite', email }
    const link = await call(app, '/admin/generate_link', body, { token, headers })
    assert.equal(link.json<User>().aud, 'team')
    const recovery = { type: 'recovery', email }
    const elsewhere = await call(app, '/admin/generate_link', recovery, { token })
    assert.deepEqual(outcomeOf(elsewhere), [404, 'user_not_found'])
  })

  test('a link says by itself whose it is', async () => {
    const { app, email } = await member()
    const token = await adminToken(app)
    const body = { type: 'recovery', email }
    const { hashed_token } = (
      await call(app, '/admin/generate_link', body, { token, headers })
    ).json<{ hashed_token: string }>()
    const session = await verify(app, { type: 'recovery', token_hash: hashed_token })
    assert.equal(audOf(session.json()), 'team')
  })

  test('an admin’s list and creation follow it', async () => {
    const { app } = await servers()
    const { id } = await adminCall<User>(app, 'POST', '/admin/users', {
      ...{ email: newAddress(), aud: 'others' },
    })
    const token = await adminToken(app)
    const others = { 'x-jwt-aud': 'others' }
    const list = await call(app, '/admin/users', undefined, { token, headers: others })
    assert.deepEqual(
      list.json<{ users: User[] }>().users.map((user) => user.id),
      [id],
    )
  })

  test('a name that is too long to be stored is refused', async () => {
    const { app } = await servers(open)
    const body = { email: newAddress(), password }
    const long = { 'x-jwt-aud': 'a'.repeat(256) }
    assert.deepEqual(outcomeOf(await call(app, '/signup', body, { headers: long })), [
      400,
      'validation_failed',
    ])
  })
})
