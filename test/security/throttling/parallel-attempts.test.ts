/** Attempts are counted before they are verified, so that a hundred racing requests count as a hundred. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { autoconfirm, confirmedUser, newAddress, newNumber, password } from '../../support/users.ts'

type Response = Awaited<ReturnType<typeof call>>
type Attempt = (index: number) => PromiseLike<Response>

const wrong = (index: number) => `wrong password ${index}`
const wrongCode = (index: number) => `x${index}`

const signIn = ({ app }: Pick<Built, 'app'>, body: object, device?: string) =>
  call(app, '/token?grant_type=password', body, {
    ...(device && { headers: { 'user-agent': device } }),
  })

const put = ({ app }: Built, token: string, body: object) =>
  call(app, '/user', body, { method: 'PUT', token })

/** A hundred racing requests: at most `free` are verified and rejected with `code`, the others are throttled. */
async function aHundred(
  t: TestContext,
  attempt: Attempt,
  free: number,
  code: string,
): Promise<void> {
  // The clock does not advance: no wait ends during a test.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const responses = await Promise.all(Array.from({ length: 100 }, (_, index) => attempt(index)))
  const codes = responses.map((response) => response.json().error_code)
  const tried = codes.filter((found) => found === code).length
  assert.ok(tried > 0 && tried <= free, `${tried} were tried: ${[...new Set(codes)]}`)
  assert.equal(codes.filter((found) => found === 'over_request_rate_limit').length, 100 - tried)
  const waiting = responses.find(({ statusCode }) => statusCode === 429)
  assert.ok(Number(waiting?.headers['retry-after']) >= 1)
}

suite('attempts', () => {
  const servers = sharedServers()

  suite('100 racing attempts', () => {
    const texting = sharedSmsServer()

    for (const known of [true, false]) {
      const whose = known ? 'a known' : 'an unknown'
      test(`are throttled at the password of ${whose} email`, async (t) => {
        const server = await servers()
        const email = known ? (await confirmedUser(server)).user.email : newAddress()
        const attempt = (index: number) => signIn(server, { email, password: wrong(index) })
        await aHundred(t, attempt, 10, 'invalid_credentials')
      })

      test(`are throttled at the password of ${whose} phone`, async (t) => {
        const server = await texting()
        const phone = newNumber()
        if (known) await call(server.app, '/signup', { phone, password })
        const attempt = (index: number) => signIn(server, { phone, password: wrong(index) })
        await aHundred(t, attempt, 10, 'invalid_credentials')
      })

      test(`are throttled at the emailed code of ${whose} email`, async (t) => {
        const server = await servers()
        const email = newAddress()
        if (known) {
          await emailAfter(server, email, () => call(server.app, '/signup', { email, password }))
        }
        const attempt = (index: number) =>
          verify(server.app, { type: 'signup', email, token: wrongCode(index) })
        await aHundred(t, attempt, 20, 'otp_expired')
      })

      test(`are throttled at the SMS code of ${whose} phone`, async (t) => {
        const server = await texting()
        const phone = newNumber()
        if (known) await call(server.app, '/signup', { phone, password })
        const attempt = (index: number) =>
          call(server.app, '/verify', { type: 'sms', phone, token: wrongCode(index) })
        await aHundred(t, attempt, 20, 'otp_expired')
      })
    }

    test('are throttled at the current password of a password change', async (t) => {
      const server = await servers({
        AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
      })
      const { user } = await confirmedUser(server)
      const { access_token } = (await signIn(server, { email: user.email, password })).json()
      const attempt = (index: number) =>
        put(server, access_token, { password: 'another password', current_password: wrong(index) })
      await aHundred(t, attempt, 10, 'current_password_invalid')
    })

    test('are throttled at the password of an unconfirmed account by autoconfirmed sign-ups', async (t) => {
      const server = await servers(autoconfirm)
      const email = newAddress()
      await adminCall(server.app, 'POST', '/admin/users', { email, password })
      const attempt = (index: number) =>
        call(server.app, '/signup', { email, password: wrong(index) })
      await aHundred(t, attempt, 10, 'user_already_exists')

      const signedIn = await signIn(server, { email, password: wrong(0) })
      assert.equal(signedIn.statusCode, 429, 'a sign-in uses the same counter')
      const right = await call(server.app, '/signup', { email, password })
      assert.equal(right.statusCode, 429, 'the correct password is throttled as well')
    })

    test('are throttled when a stolen session tries passwords in changes that fail later', async (t) => {
      const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '600' })
      const { access_token } = await confirmedUser(server)
      await put(server, access_token, { email: newAddress() })
      const attempt = (index: number) =>
        put(server, access_token, { email: newAddress(), password: wrong(index) })
      await aHundred(t, attempt, 10, 'over_email_send_rate_limit')
      const right = await put(server, access_token, { email: newAddress(), password })
      assert.equal(right.json().error_code, 'over_request_rate_limit')
    })
  })

  suite('successful attempt', () => {
    test('resets its own counter and block only', async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const server = await servers()
      const { email } = (await confirmedUser(server)).user
      const at = (secret: string, device: string) =>
        signIn(server, { email, password: secret }, device)
      for (let i = 0; i < 9; i++) {
        assert.equal((await at(wrong(i), 'unknown device')).statusCode, 400)
      }
      assert.equal((await at(password, 'new device')).statusCode, 200, 'nine failures do not block')
      assert.equal(
        (await at(wrong(9), 'unknown device')).statusCode,
        400,
        'a success removes the block',
      )
      assert.equal((await at(wrong(10), 'unknown device')).statusCode, 429)
    })

    test('is not counted for a password change', async () => {
      const server = await servers()
      const { access_token } = await confirmedUser(server)
      for (let i = 0; i < 12; i++) {
        const changed = await put(server, access_token, { password: wrong(i) })
        assert.equal(changed.statusCode, 200, changed.body)
      }
    })

    test('is not counted for an emailed code', async () => {
      const server = await servers()
      const { email } = (await confirmedUser(server)).user
      for (let i = 0; i < 22; i++) {
        const message = await emailAfter(server, email, () =>
          call(server.app, '/recover', { email }),
        )
        const token = codeIn(message)
        const verified = await verify(server.app, { type: 'recovery', email, token })
        assert.equal(verified.statusCode, 200, verified.body)
      }
    })
  })
})
