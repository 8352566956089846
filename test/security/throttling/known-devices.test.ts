/** Continued attempts of an attacker do not lock out a user on a known device. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, suite, test } from 'node:test'

import { deviceHash } from '../../../modules/otp/index.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { watchStatements } from '../../support/statements.ts'
import {
  confirmedUser,
  newAddress,
  password,
  signUp,
  unconfirmedUser,
} from '../../support/users.ts'

interface Device {
  ip: string
  agent: string
}

const attacker = { ip: '198.51.100.66', agent: 'curl/8' }
const laptop = { ip: '203.0.113.7', agent: 'Firefox on a laptop' }

const from = ({ ip, agent }: Device) => ({
  headers: { 'x-forwarded-for': ip, 'user-agent': agent },
})

const signIn = ({ app }: Built, email: string, device: Device, secret = password) =>
  call(app, '/token?grant_type=password', { email, password: secret }, from(device))

const typeCode = ({ app }: Built, email: string, device: Device, token: string) =>
  call(app, '/verify', { type: 'recovery', email, token }, from(device))

/** A user who has signed in from `devices` while an attacker continues to try passwords. */
async function userUnderAttack(server: Built, ...devices: Device[]): Promise<Session['user']> {
  const { user } = await confirmedUser(server)
  for (const device of devices) {
    assert.equal((await signIn(server, user.email, device)).statusCode, 200)
  }
  await exhaustAttempts(server, user.email)
  return user
}

async function exhaustAttempts(server: Built, email: string): Promise<void> {
  for (let i = 0; i < 11; i++) await signIn(server, email, attacker, `guess ${i}`)
  assert.equal((await signIn(server, email, attacker)).statusCode, 429)
}

suite('known device', () => {
  // The clock does not advance: no wait ends during a test.
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
  afterEach(() => mock.timers.reset())

  const servers = sharedServers()
  const anonymousAndImpersonated = {
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  }

  test('can sign in repeatedly while unknown devices are throttled', async () => {
    const server = await servers()
    const { email } = await userUnderAttack(server, laptop)
    for (let i = 0; i < 3; i++) {
      assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    }
    assert.equal(
      (await signIn(server, email, attacker)).statusCode,
      429,
      'unknown devices are still throttled',
    )
  })

  test('can verify a code while unknown devices are throttled', async () => {
    const server = await servers()
    const { email } = await userUnderAttack(server, laptop)
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    for (let i = 0; i < 21; i++) await typeCode(server, email, attacker, `x${i}`)
    assert.equal((await typeCode(server, email, attacker, codeIn(message))).statusCode, 429)
    const again = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const verified = await typeCode(server, email, laptop, codeIn(again))
    assert.equal(verified.statusCode, 200, verified.body)
  })

  test('is throttled by its own failures per device', async () => {
    const server = await servers()
    const phone = { ip: '203.0.113.8', agent: 'A phone' }
    const { email } = await userUnderAttack(server, laptop, phone)
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => signIn(server, email, laptop, `guess ${i}`)),
    )
    assert.equal(responses.filter(({ statusCode }) => statusCode === 400).length, 10)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
    assert.equal((await signIn(server, email, phone)).statusCode, 200)
  })

  test('resets its failures by a successful attempt', async () => {
    const server = await servers()
    const { email } = await userUnderAttack(server, laptop)
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 9; i++) {
        assert.equal((await signIn(server, email, laptop, `guess ${i}`)).statusCode, 400)
      }
      assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    }
  })

  test('does not reset the failures of unknown devices when added', async () => {
    const server = await servers()
    const { email } = await userUnderAttack(server)
    mock.timers.tick(1000)
    assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    assert.equal((await signIn(server, email, attacker, 'wrong password')).statusCode, 400)
    assert.equal((await signIn(server, email, attacker, 'one more')).statusCode, 429)
  })

  test('is not stored for an anonymous user', async () => {
    const server = await servers(anonymousAndImpersonated)
    const guest = await call(server.app, '/signup', {}, from(laptop))
    assert.equal(guest.statusCode, 200, guest.body)
    const { rows } = await server.app.pool.query(
      'select from auth.postern_known_devices where user_id = $1',
      [guest.json().user.id],
    )
    assert.equal(rows.length, 0)
  })

  const six = { ip: '2001:db8:1:2::1', agent: laptop.agent }
  const networks: [string, Device, Device, boolean][] = [
    ['another address in the same IPv6 network', six, { ...six, ip: '2001:db8:1:2:a:b:c:d' }, true],
    ['another IPv6 network', six, { ...six, ip: '2001:db8:1:3::1' }, false],
    ['an IPv4-mapped address', laptop, { ...laptop, ip: '::ffff:203.0.113.7' }, true],
    ['another IPv4 address', laptop, { ...laptop, ip: '203.0.113.9' }, false],
    ['another user agent', laptop, { ...laptop, agent: 'Firefox on a phone' }, false],
  ]
  for (const [what, usual, now, isKnown] of networks) {
    test(`${what} is ${isKnown ? 'known' : 'unknown'}`, async () => {
      const server = await servers()
      const { email } = await userUnderAttack(server, usual)
      assert.equal((await signIn(server, email, now)).statusCode, isKnown ? 200 : 429)
    })
  }

  test('is known for one user only', async () => {
    const server = await servers()
    await userUnderAttack(server, laptop)
    const { email } = await userUnderAttack(server)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
  })

  test('is not added by an impersonating admin', async () => {
    const server = await servers(anonymousAndImpersonated)
    const { user } = await confirmedUser(server)
    const token = server.app.jwt.signApiToken({ role: 'service_role', seconds: 3600 }, new Date())
    const { app } = server
    const url = `/admin/users/${user.id}/impersonate`
    const body = { reason: 'the user requested help' }
    const opened = await call(app, url, body, { token: await token, ...from(laptop) })
    assert.equal(opened.statusCode, 200, opened.body)
    await exhaustAttempts(server, user.email)
    assert.equal((await signIn(server, user.email, laptop)).statusCode, 429)
  })

  test('is forgotten by a password change, except the current one', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server)
    const desk = { ip: '203.0.113.10', agent: 'A desk' }
    await signIn(server, user.email, desk)
    const { access_token: token } = (await signIn(server, user.email, laptop)).json<Session>()
    const changed = 'another password'
    const options = { method: 'PUT', token, ...from(laptop) } as const
    const response = await call(server.app, '/user', { password: changed }, options)
    assert.equal(response.statusCode, 200, response.body)
    await exhaustAttempts(server, user.email)
    assert.equal((await signIn(server, user.email, desk, changed)).statusCode, 429)
    assert.equal((await signIn(server, user.email, laptop, changed)).statusCode, 200)
  })

  test('is forgotten when an admin sets a password', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server)
    await signIn(server, user.email, laptop)
    await adminCall(server.app, 'PUT', `/admin/users/${user.id}`, { password: 'a new password' })
    await exhaustAttempts(server, user.email)
    assert.equal((await signIn(server, user.email, laptop, 'a new password')).statusCode, 429)
  })

  test('is forgotten by the first confirmation of the email', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { email } = (await unconfirmedUser(server)).user
    assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const desk = { ip: '203.0.113.10', agent: 'A desk' }
    assert.equal((await typeCode(server, email, desk, codeIn(message))).statusCode, 200)
    await exhaustAttempts(server, email)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
  })

  test('is forgotten by a sign-up that replaces an unconfirmed one', async () => {
    const server = await servers()
    const { id, email } = (await unconfirmedUser(server)).user
    const { db } = server.app
    const device_hash = deviceHash(server.app, { network: laptop.ip, userAgent: laptop.agent })
    const device = { user_id: id, device_hash, last_used_at: new Date() }
    await db.insertInto('postern_known_devices').values(device).execute()
    await signUp(server.app, { email })
    const known = db.selectFrom('postern_known_devices').select('user_id').where('user_id', '=', id)
    assert.deepEqual(await known.execute(), [])
  })

  test('is forgotten once twenty newer devices are known', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server)
    const numbered = (i: number) => ({ ...laptop, agent: `Browser ${i}` })
    for (let i = 0; i < 22; i++) {
      mock.timers.tick(1000)
      await signIn(server, user.email, numbered(i))
    }
    await exhaustAttempts(server, user.email)
    assert.equal((await signIn(server, user.email, numbered(0))).statusCode, 429)
    assert.equal((await signIn(server, user.email, numbered(21))).statusCode, 200)
  })

  test('is stored without address and user agent', async () => {
    const server = await servers()
    const { id } = await userUnderAttack(server, laptop)
    const { rows } = await server.app.pool.query(
      'select * from auth.postern_known_devices where user_id = $1',
      [id],
    )
    assert.ok(rows.length > 0)
    const stored = JSON.stringify(rows)
    assert.ok(!stored.includes(laptop.ip) && !stored.includes('Firefox'))
  })

  test('runs the same statements for each user', async (t) => {
    const server = await build(t)
    const { email } = (await confirmedUser(server)).user
    await signIn(server, email, laptop)
    await server.app.jobQueue.stop()
    const attempts: [string, Device][] = [
      [email, laptop],
      [email, attacker],
      [newAddress(), laptop],
    ]
    const seen = []
    for (const [address, device] of attempts) {
      seen.push(
        await watchStatements(server.app, () => signIn(server, address, device, 'not this one')),
        await watchStatements(server.app, () => typeCode(server, address, device, 'x')),
      )
    }
    for (const [index, statements] of seen.entries()) assert.deepEqual(statements, seen[index % 2])
  })
})
