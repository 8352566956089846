/** X-JWT-AUD: each user belongs to one audience, and requests for another audience do not find them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { readConfig } from '../../../config/read-config.ts'
import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, refresh, statusAndCode, verify } from '../../support/requests.ts'
import {
  adminToken,
  autoconfirm,
  newAddress,
  newNumber,
  password,
  signUpUser,
} from '../../support/users.ts'

const headers = { 'x-jwt-aud': 'team' }
const allowed = { AUTH_JWT_ALLOWED_AUDIENCES: 'team, others' }
const open = { ...autoconfirm, ...allowed, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
const expired = [403, 'otp_expired']
const invalid = [400, 'validation_failed']
const getAud = ({ access_token }: Session) => decodeJwt(access_token).aud

suite('X-JWT-AUD', () => {
  const servers = sharedServers()
  const smsServer = sharedSmsServer({ env: allowed })

  /** A user of the other audience with a confirmed email. */
  async function registeredUser() {
    const server = await servers(open)
    const email = newAddress()
    const response = await call(server.app, '/signup', { email, password }, { headers })
    return { ...server, email, session: response.json<Session>() }
  }

  test('signs up users of the requested audience, with its aud claim', async () => {
    const { app, session } = await registeredUser()
    assert.equal(session.user.aud, 'team')
    assert.equal(getAud(session), 'team')
    const anonymous = (await call(app, '/signup', {}, { headers })).json<Session>()
    assert.equal(getAud(anonymous), 'team')
  })

  test('signs in by password in the user’s audience only', async () => {
    const { app, email } = await registeredUser()
    const send = (more: object) =>
      call(app, '/token?grant_type=password', { email, password }, more)
    assert.equal(getAud((await send({ headers })).json()), 'team')
    assert.deepEqual(statusAndCode(await send({})), [400, 'invalid_credentials'])
  })

  test('/otp, /magiclink, /recover and /resend email users of the audience only', async () => {
    const { app, mail, email, config } = await registeredUser()
    const paths = ['/otp', '/magiclink', '/recover', '/resend']
    for (const path of paths) {
      const body = path === '/resend' ? { email, type: 'signup' } : { email }
      assert.equal((await call(app, path, body)).statusCode, 200)
    }
    await waitForIdleQueue({ app, config })
    assert.deepEqual(
      mail.messages.filter(({ to }) => to === email),
      [],
    )
    for (const path of ['/magiclink', '/recover']) {
      await emailAfter({ mail }, email, () => call(app, path, { email }, { headers }))
    }
  })

  test('rejects an emailed code for another audience without consuming it', async () => {
    const { app, mail, email } = await registeredUser()
    const message = await emailAfter({ mail }, email, () =>
      call(app, '/recover', { email }, { headers }),
    )
    const verification = { type: 'recovery', email, token: codeIn(message) }
    assert.deepEqual(statusAndCode(await verify(app, verification)), expired)
    const session = (await call(app, '/verify', verification, { headers })).json<Session>()
    assert.equal(getAud(session), 'team')
  })

  test('resends the confirmation of an unconfirmed sign-up in the audience', async () => {
    const server = await servers(allowed)
    const { app } = server
    const email = newAddress()
    const send = () => call(app, '/signup', { email, password }, { headers })
    await emailAfter(server, email, send)
    const body = { email, type: 'signup' }
    const message = await emailAfter(server, email, () => call(app, '/resend', body, { headers }))
    const verification = { type: 'signup', email, token: codeIn(message) }
    assert.equal(
      (await call(app, '/verify', verification, { headers })).json<Session>().user.aud,
      'team',
    )
  })

  test('rejects a phone code for another audience', async () => {
    const server = await smsServer()
    const { app } = server
    const phone = newNumber()
    const send = () => call(app, '/otp', { phone }, { headers })
    const verification = { type: 'sms', phone, token: await codeAfter(server, phone, send) }
    assert.deepEqual(statusAndCode(await verify(app, verification)), expired)
    const session = (await call(app, '/verify', verification, { headers })).json<Session>()
    assert.equal(getAud(session), 'team')
  })

  test('rejects a sign-up with an email of another audience', async () => {
    const { app, email } = await registeredUser()
    const response = await call(app, '/signup', { email, password })
    assert.deepEqual(statusAndCode(response), [400, 'user_already_exists'])
  })

  test('invites and links users of the audience', async () => {
    const { app } = await servers(allowed)
    const token = await adminToken(app)
    const invite = await call(app, '/invite', { email: newAddress() }, { token, headers })
    assert.equal(invite.json<User>().aud, 'team')
    const email = newAddress()
    const body = { type: 'invite', email }
    const link = await call(app, '/admin/generate_link', body, { token, headers })
    assert.equal(link.json<User>().aud, 'team')
    const recovery = { type: 'recovery', email }
    const other = await call(app, '/admin/generate_link', recovery, { token })
    assert.deepEqual(statusAndCode(other), [404, 'user_not_found'])
  })

  test('accepts a link without the header', async () => {
    const { app, email } = await registeredUser()
    const token = await adminToken(app)
    const body = { type: 'recovery', email }
    const { hashed_token } = (
      await call(app, '/admin/generate_link', body, { token, headers })
    ).json<{ hashed_token: string }>()
    const session = await verify(app, { type: 'recovery', token_hash: hashed_token })
    assert.equal(getAud(session.json()), 'team')
  })

  test('lists and creates users of the audience for admins', async () => {
    const { app } = await servers(allowed)
    const { id } = await adminCall<User>(app, 'POST', '/admin/users', {
      email: newAddress(),
      aud: 'others',
    })
    const token = await adminToken(app)
    const others = { 'x-jwt-aud': 'others' }
    const list = await call(app, '/admin/users', undefined, { token, headers: others })
    assert.deepEqual(
      list.json<{ users: User[] }>().users.map((user) => user.id),
      [id],
    )
  })

  test('rejects a name that is too long, also when each audience is allowed', async () => {
    const { app } = await servers({ ...open, AUTH_JWT_ALLOWED_AUDIENCES: '*' })
    const send = (aud: string) =>
      call(app, '/signup', { email: newAddress(), password }, { headers: { 'x-jwt-aud': aud } })
    assert.deepEqual(statusAndCode(await send('a'.repeat(256))), invalid)
    assert.equal(getAud((await send('a'.repeat(255))).json()), 'a'.repeat(255))
  })
})

suite('AUTH_JWT_ALLOWED_AUDIENCES', () => {
  const servers = sharedServers()
  const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
  const server = () => servers({ ...autoconfirm, ...anonymous })

  const requests: Record<string, [path: string, body: object]> = {
    'a sign-up': ['/signup', { email: newAddress(), password }],
    'an anonymous sign-up': ['/signup', {}],
    'a sign-in by password': ['/token?grant_type=password', { email: newAddress(), password }],
    'a code by email': ['/otp', { email: newAddress() }],
    'a magic link': ['/magiclink', { email: newAddress() }],
    'a recovery': ['/recover', { email: newAddress() }],
    'a typed code': ['/verify', { type: 'email', email: newAddress(), token: '123456' }],
  }
  for (const [name, [path, body]] of Object.entries(requests)) {
    test(`rejects another audience in X-JWT-AUD of ${name}`, async () => {
      const { app } = await server()
      const response = await call(app, path, body, { headers })
      assert.deepEqual(statusAndCode(response), invalid)
      assert.equal(response.json().msg, 'X-JWT-AUD is not an audience of this server')
    })
  }

  test('rejects another audience of an admin in X-JWT-AUD and in aud', async () => {
    const { app } = await server()
    const token = await adminToken(app)
    const email = newAddress()
    const create = (body: object, more: object) =>
      call(app, '/admin/users', body, { token, ...more })
    assert.deepEqual(statusAndCode(await create({ email }, { headers })), invalid)
    assert.deepEqual(statusAndCode(await create({ email, aud: 'team' }, {})), invalid)
    const invite = await call(app, '/invite', { email }, { token, headers })
    assert.deepEqual(statusAndCode(invite), invalid)
  })

  test('rejects tokens of another audience only', async () => {
    const { app } = await server()
    const { access_token } = await signUpUser(app)
    const claims = await app.jwt.verify(access_token)
    const outcomeFor = async (aud: string | string[]) =>
      statusAndCode(await getUser(app, { access_token: await app.jwt.sign({ ...claims, aud }) }))
    assert.deepEqual(await outcomeFor('team'), [403, 'bad_jwt'])
    assert.deepEqual(await outcomeFor(['team', 'billing']), [403, 'bad_jwt'])
    assert.deepEqual(await outcomeFor(['team', 'authenticated']), [200, ''])
    const admin = await app.jwt.sign({ role: 'service_role', aud: 'team' })
    const list = await call(app, '/admin/users', undefined, { token: admin })
    assert.deepEqual(statusAndCode(list), [403, 'bad_jwt'])
  })

  test('rejects the refresh of a user moved to another audience', async () => {
    const { app } = await server()
    const { user, refresh_token } = await signUpUser(app)
    await app.db.updateTable('users').set({ aud: 'team' }).where('id', '=', user.id).execute()
    assert.deepEqual(statusAndCode(await refresh(app, refresh_token)), [422, 'validation_failed'])
  })

  test('allows each audience when configured by GOTRUE_ names', () => {
    const warnings: string[] = []
    const env = {
      GOTRUE_SITE_URL: 'http://app.example',
      API_EXTERNAL_URL: 'http://auth.example',
      GOTRUE_DB_DRIVER: 'postgres',
      DATABASE_URL: 'postgres://unused@127.0.0.1:9/unused',
      GOTRUE_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
    }
    const warn = (message: string) => void warnings.push(message)
    const read = (more: object) => readConfig({ ...env, ...more }, { dev: true, warn })
    assert.deepEqual(read({}).AUTH_JWT_ALLOWED_AUDIENCES, ['*'])
    assert.equal(warnings.filter((warning) => warning.includes('X-JWT-AUD')).length, 1)
    const named = { GOTRUE_JWT_ALLOWED_AUDIENCES: 'team' }
    assert.deepEqual(read(named).AUTH_JWT_ALLOWED_AUDIENCES, ['team'])
    assert.equal(warnings.filter((warning) => warning.includes('X-JWT-AUD')).length, 1)
  })
})
