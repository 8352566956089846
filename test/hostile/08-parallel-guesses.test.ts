/** Row 8: guesses are counted before they are tried, so that a hundred at once are a hundred. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminCall } from '../support/admin.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import { autoconfirm, confirmedPerson, newAddress, newNumber, password } from '../support/people.ts'
import { sharedSmsServer } from '../support/phone-journeys.ts'
import { call, verify } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

type Answer = Awaited<ReturnType<typeof call>>
type Guess = (index: number) => PromiseLike<Answer>

const wrong = (index: number) => `wrong password ${index}`
const wrongCode = (index: number) => `x${index}`

const signIn = ({ app }: Pick<Built, 'app'>, body: object, device?: string) =>
  call(app, '/token?grant_type=password', body, {
    ...(device && { headers: { 'user-agent': device } }),
  })

const put = ({ app }: Built, token: string, body: object) =>
  call(app, '/user', body, { method: 'PUT', token })

/** A hundred at once: at most `free` are tried and refused with `code`, the others only wait. */
async function aHundred(t: TestContext, guess: Guess, free: number, code: string): Promise<void> {
  // However long they take, no wait ends meanwhile.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => guess(index)))
  const codes = answers.map((answer) => answer.json().error_code)
  const tried = codes.filter((found) => found === code).length
  assert.ok(tried > 0 && tried <= free, `${tried} were tried: ${[...new Set(codes)]}`)
  assert.equal(codes.filter((found) => found === 'over_request_rate_limit').length, 100 - tried)
  const waiting = answers.find(({ statusCode }) => statusCode === 429)
  assert.ok(Number(waiting?.headers['retry-after']) >= 1)
}

suite('row 8: a hundred guesses at once', () => {
  const servers = sharedServers()
  const texting = sharedSmsServer()

  for (const known of [true, false]) {
    const whose = known ? 'somebody' : 'nobody'
    test(`at the password of ${whose}, by email`, async (t) => {
      const server = await servers()
      const email = known ? (await confirmedPerson(server)).user.email : newAddress()
      const guess = (index: number) => signIn(server, { email, password: wrong(index) })
      await aHundred(t, guess, 10, 'invalid_credentials')
    })

    test(`at the password of ${whose}, by phone`, async (t) => {
      const server = await texting()
      const phone = newNumber()
      if (known) await call(server.app, '/signup', { phone, password })
      const guess = (index: number) => signIn(server, { phone, password: wrong(index) })
      await aHundred(t, guess, 10, 'invalid_credentials')
    })

    test(`at a mailed code of ${whose}`, async (t) => {
      const server = await servers()
      const email = newAddress()
      if (known) {
        await mailAfter(server, email, () => call(server.app, '/signup', { email, password }))
      }
      const guess = (index: number) =>
        verify(server.app, { type: 'signup', email, token: wrongCode(index) })
      await aHundred(t, guess, 20, 'otp_expired')
    })

    test(`at a texted code of ${whose}`, async (t) => {
      const server = await texting()
      const phone = newNumber()
      if (known) await call(server.app, '/signup', { phone, password })
      const guess = (index: number) =>
        call(server.app, '/verify', { type: 'sms', phone, token: wrongCode(index) })
      await aHundred(t, guess, 20, 'otp_expired')
    })
  }

  test('at the current password, for a new one', async (t) => {
    const server = await servers({
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
    })
    const { user } = await confirmedPerson(server)
    const { access_token } = (await signIn(server, { email: user.email, password })).json()
    const guess = (index: number) =>
      put(server, access_token, { password: 'another password', current_password: wrong(index) })
    await aHundred(t, guess, 10, 'current_password_invalid')
  })

  test('at the password of an unconfirmed account, by signing up where that confirms at once', async (t) => {
    const server = await servers(autoconfirm)
    const email = newAddress()
    await adminCall(server.app, 'POST', '/admin/users', { email, password })
    const guess = (index: number) => call(server.app, '/signup', { email, password: wrong(index) })
    await aHundred(t, guess, 10, 'user_already_exists')

    const signedIn = await signIn(server, { email, password: wrong(0) })
    assert.equal(signedIn.statusCode, 429, 'a sign-in goes by the same count')
    const right = await call(server.app, '/signup', { email, password })
    assert.equal(right.statusCode, 429, 'the right one waits as well')
  })

  test('at the password of a stolen session, by changes that are sure to fail', async (t) => {
    const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '600' })
    const { access_token } = await confirmedPerson(server)
    await put(server, access_token, { email: newAddress() })
    const guess = (index: number) =>
      put(server, access_token, { email: newAddress(), password: wrong(index) })
    await aHundred(t, guess, 10, 'over_email_send_rate_limit')
    const right = await put(server, access_token, { email: newAddress(), password })
    assert.equal(right.json().error_code, 'over_request_rate_limit')
  })
})

suite('row 8: what a right guess gives back', () => {
  const servers = sharedServers()

  test('its own count and its own block, and not those of others', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const server = await servers()
    const { email } = (await confirmedPerson(server)).user
    const at = (secret: string, device: string) =>
      signIn(server, { email, password: secret }, device)
    for (let i = 0; i < 9; i++) {
      assert.equal((await at(wrong(i), 'stranger')).statusCode, 400)
    }
    assert.equal((await at(password, 'new device')).statusCode, 200, 'the tenth blocks')
    assert.equal((await at(wrong(9), 'stranger')).statusCode, 400, 'and what was right unblocks')
    assert.equal((await at(wrong(10), 'stranger')).statusCode, 429)
  })

  test('a password that was really changed costs nothing', async () => {
    const server = await servers()
    const { access_token } = await confirmedPerson(server)
    for (let i = 0; i < 12; i++) {
      const changed = await put(server, access_token, { password: wrong(i) })
      assert.equal(changed.statusCode, 200, changed.body)
    }
  })

  test('a code that was right costs nothing', async () => {
    const server = await servers()
    const { email } = (await confirmedPerson(server)).user
    for (let i = 0; i < 22; i++) {
      const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
      const token = codeIn(message)
      const verified = await verify(server.app, { type: 'recovery', email, token })
      assert.equal(verified.statusCode, 200, verified.body)
    }
  })
})
