/** Row 18: strangers who go on guessing do not keep out somebody whose device is known. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  confirmedPerson,
  newAddress,
  password,
  signUp,
  unconfirmedPerson,
} from '../support/people.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { statementsOf } from '../support/statements.ts'

interface Device {
  ip: string
  agent: string
}

const stranger = { ip: '198.51.100.66', agent: 'curl/8' }
const laptop = { ip: '203.0.113.7', agent: 'Firefox on a laptop' }

const from = ({ ip, agent }: Device) => ({
  headers: { 'x-forwarded-for': ip, 'user-agent': agent },
})

const signIn = ({ app }: Built, email: string, device: Device, secret = password) =>
  call(app, '/token?grant_type=password', { email, password: secret }, from(device))

const typeCode = ({ app }: Built, email: string, device: Device, token: string) =>
  call(app, '/verify', { type: 'recovery', email, token }, from(device))

/** Somebody who has signed in from `devices`, while a stranger guesses without end. */
async function besieged(server: Built, ...devices: Device[]): Promise<Session['user']> {
  const { user } = await confirmedPerson(server)
  for (const device of devices) {
    assert.equal((await signIn(server, user.email, device)).statusCode, 200)
  }
  await siege(server, user.email)
  return user
}

async function siege(server: Built, email: string): Promise<void> {
  for (let i = 0; i < 11; i++) await signIn(server, email, stranger, `guess ${i}`)
  assert.equal((await signIn(server, email, stranger)).statusCode, 429)
}

suite('row 18: a known device', () => {
  // However long a test takes, no wait ends meanwhile.
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
  afterEach(() => mock.timers.reset())

  const servers = sharedServers()

  test('signs in while strangers wait, and so may the next one', async () => {
    const server = await servers()
    const { email } = await besieged(server, laptop)
    for (let i = 0; i < 3; i++) {
      assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    }
    assert.equal((await signIn(server, email, stranger)).statusCode, 429, 'strangers still wait')
  })

  test('types a code while strangers wait', async () => {
    const server = await servers()
    const { email } = await besieged(server, laptop)
    const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    for (let i = 0; i < 21; i++) await typeCode(server, email, stranger, `x${i}`)
    assert.equal((await typeCode(server, email, stranger, codeIn(message))).statusCode, 429)
    const again = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const verified = await typeCode(server, email, laptop, codeIn(again))
    assert.equal(verified.statusCode, 200, verified.body)
  })

  test('may guess no more often than anybody, and each on its own account', async () => {
    const server = await servers()
    const phone = { ip: '203.0.113.8', agent: 'A phone' }
    const { email } = await besieged(server, laptop, phone)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => signIn(server, email, laptop, `guess ${i}`)),
    )
    assert.equal(answers.filter(({ statusCode }) => statusCode === 400).length, 10)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
    assert.equal((await signIn(server, email, phone)).statusCode, 200)
  })

  test('is forgiven what it got wrong, once it gets it right', async () => {
    const server = await servers()
    const { email } = await besieged(server, laptop)
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 9; i++) {
        assert.equal((await signIn(server, email, laptop, `guess ${i}`)).statusCode, 400)
      }
      assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    }
  })

  test('that becomes one forgives strangers nothing', async () => {
    const server = await servers()
    const { email } = await besieged(server)
    mock.timers.tick(1000)
    assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    assert.equal((await signIn(server, email, stranger, 'a guess')).statusCode, 400)
    assert.equal((await signIn(server, email, stranger, 'one more')).statusCode, 429)
  })

  test('is none of a guest, who has nothing to guess at', async () => {
    const server = await servers({ AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const guest = await call(server.app, '/signup', {}, from(laptop))
    assert.equal(guest.statusCode, 200, guest.body)
    const { rows } = await server.app.pool.query('select from auth.postern_known_devices')
    assert.equal(rows.length, 0)
  })

  const six = { ip: '2001:db8:1:2::1', agent: laptop.agent }
  const networks: [string, Device, Device, boolean][] = [
    ['another address of the same IPv6 network', six, { ...six, ip: '2001:db8:1:2:a:b:c:d' }, true],
    ['another IPv6 network', six, { ...six, ip: '2001:db8:1:3::1' }, false],
    ['an IPv4 address written as IPv6', laptop, { ...laptop, ip: '::ffff:203.0.113.7' }, true],
    ['another IPv4 address', laptop, { ...laptop, ip: '203.0.113.9' }, false],
    ['another program', laptop, { ...laptop, agent: 'Firefox on a phone' }, false],
  ]
  for (const [what, usual, now, isKnown] of networks) {
    test(`${what} is ${isKnown ? 'known' : 'a stranger'}`, async () => {
      const server = await servers()
      const { email } = await besieged(server, usual)
      assert.equal((await signIn(server, email, now)).statusCode, isKnown ? 200 : 429)
    })
  }

  test('is known to one person only', async () => {
    const server = await servers()
    await besieged(server, laptop)
    const { email } = await besieged(server)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
  })

  test('an admin who acts for somebody makes no device known', async () => {
    const server = await servers({ AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
    const { user } = await confirmedPerson(server)
    const token = server.app.jwt.signApiToken({ role: 'service_role', seconds: 3600 }, new Date())
    const { app } = server
    const url = `/admin/users/${user.id}/impersonate`
    const body = { reason: 'they asked for help' }
    const opened = await call(app, url, body, { token: await token, ...from(laptop) })
    assert.equal(opened.statusCode, 200, opened.body)
    await siege(server, user.email)
    assert.equal((await signIn(server, user.email, laptop)).statusCode, 429)
  })

  test('a new password makes strangers of all devices but the one in use', async () => {
    const server = await servers()
    const { user } = await confirmedPerson(server)
    const desk = { ip: '203.0.113.10', agent: 'A desk' }
    await signIn(server, user.email, desk)
    const { access_token: token } = (await signIn(server, user.email, laptop)).json<Session>()
    const changed = 'another password'
    const options = { method: 'PUT', token, ...from(laptop) } as const
    const answer = await call(server.app, '/user', { password: changed }, options)
    assert.equal(answer.statusCode, 200, answer.body)
    await siege(server, user.email)
    assert.equal((await signIn(server, user.email, desk, changed)).statusCode, 429)
    assert.equal((await signIn(server, user.email, laptop, changed)).statusCode, 200)
  })

  test('an admin who sets a password makes strangers of all', async () => {
    const server = await servers()
    const { user } = await confirmedPerson(server)
    await signIn(server, user.email, laptop)
    await adminCall(server.app, 'PUT', `/admin/users/${user.id}`, { password: 'a new password' })
    await siege(server, user.email)
    assert.equal((await signIn(server, user.email, laptop, 'a new password')).statusCode, 429)
  })

  test('a proof of the address makes strangers of those from before it', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const { email } = (await unconfirmedPerson(server)).user
    assert.equal((await signIn(server, email, laptop)).statusCode, 200)
    const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const desk = { ip: '203.0.113.10', agent: 'A desk' }
    assert.equal((await typeCode(server, email, desk, codeIn(message))).statusCode, 200)
    await siege(server, email)
    assert.equal((await signIn(server, email, laptop)).statusCode, 429)
  })

  test('so does a sign-up that takes the place of another one', async () => {
    const server = await servers()
    const { id, email } = (await unconfirmedPerson(server)).user
    const { db, otp } = server.app
    const device_hash = otp.deviceHash({ network: laptop.ip, userAgent: laptop.agent })
    const device = { user_id: id, device_hash, last_used_at: new Date() }
    await db.insertInto('postern_known_devices').values(device).execute()
    await signUp(server.app, { email })
    const known = db.selectFrom('postern_known_devices').select('user_id').where('user_id', '=', id)
    assert.deepEqual(await known.execute(), [])
  })

  test('of many devices the latest twenty are known, so that nobody stores up guesses', async () => {
    const server = await servers()
    const { user } = await confirmedPerson(server)
    const numbered = (i: number) => ({ ...laptop, agent: `Browser ${i}` })
    for (let i = 0; i < 22; i++) {
      mock.timers.tick(1000)
      await signIn(server, user.email, numbered(i))
    }
    await siege(server, user.email)
    assert.equal((await signIn(server, user.email, numbered(0))).statusCode, 429)
    assert.equal((await signIn(server, user.email, numbered(21))).statusCode, 200)
  })

  test('is kept without its address and its name', async () => {
    const server = await servers()
    const { id } = await besieged(server, laptop)
    const { rows } = await server.app.pool.query(
      'select * from auth.postern_known_devices where user_id = $1',
      [id],
    )
    assert.ok(rows.length > 0)
    const stored = JSON.stringify(rows)
    assert.ok(!stored.includes(laptop.ip) && !stored.includes('Firefox'))
  })

  test('the same statements are made for everybody', async (t) => {
    const server = await build(t)
    const { email } = (await confirmedPerson(server)).user
    await signIn(server, email, laptop)
    await server.app.jobQueue.stop()
    const guesses: [string, Device][] = [
      [email, laptop],
      [email, stranger],
      [newAddress(), laptop],
    ]
    const seen = []
    for (const [address, device] of guesses) {
      seen.push(
        await statementsOf(server.app, () => signIn(server, address, device, 'not this one')),
        await statementsOf(server.app, () => typeCode(server, address, device, 'x')),
      )
    }
    for (const [index, statements] of seen.entries()) assert.deepEqual(statements, seen[index % 2])
  })
})
