/** After a hundred failed attempts a day, the user is notified and signs in by an emailed link. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import {
  addTotp,
  challenge,
  everyFactor,
  stepUp,
  verifyChallenge,
  wrongCode,
} from '../../support/factors/factors.ts'
import { emailAfter, open, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { confirmedUser, newAddress, signedIn, signIn } from '../../support/users.ts'

const env = {
  AUTH_JWT_EXP: '24h',
  AUTH_MAILER_NOTIFICATIONS_TOO_MANY_ATTEMPTS_ENABLED: 'true',
  AUTH_MAILER_NOTIFICATIONS_MFA_VERIFICATION_FAILED_ENABLED: 'true',
}
/** The emailed link must not be the first confirmation of the email, which clears earlier credentials. */
const unconfirmed = { AUTH_MAILER_AUTOCONFIRM: 'false' }
const tooMany = [429, 'over_request_rate_limit']
const wrong = [400, 'invalid_credentials']
const attacker = { 'user-agent': 'a new device' }
const minuteMs = 60_000

suite('daily limit of failed attempts', () => {
  test('limits a password to 100 failures, notifies the user and allows a known device and an emailed link', async (t) => {
    const server = await build(t, { env })
    const { user } = await confirmedUser(server)
    const email = user.email ?? ''
    const clock = startClock(t)
    const attempt = () => signIn(server.app, { email, password: 'wrong password' }, attacker)
    await failTimes(100, attempt, wrong, clock)

    const capped = await signIn(server.app, { email }, attacker)
    assert.deepEqual(statusAndCode(capped), tooMany)
    assert.match(capped.json().msg, /link sent by email/)
    assert.ok(Number(capped.headers['retry-after']) > 3600)
    clock.pass(2 * 60 * minuteMs)
    assert.deepEqual(statusAndCode(await signIn(server.app, { email }, attacker)), tooMany)
    assert.equal((await signIn(server.app, { email })).statusCode, 200, 'a known device')
    assert.deepEqual(statusAndCode(await signIn(server.app, { email }, attacker)), tooMany)
    await server.mail.waitFor(
      ({ to, mail }) => to === email && /too many failed attempts/i.test(mail.subject ?? ''),
    )

    const link = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    assert.equal((await open(server.app, link)).statusCode, 303)
    assert.equal((await signIn(server.app, { email }, attacker)).statusCode, 200)
  })

  test('responds identically for an unknown email, sends no notification and resets after a day', async (t) => {
    const server = await build(t, { env })
    const email = newAddress()
    const clock = startClock(t)
    const attempt = () => signIn(server.app, { email, password: 'wrong password' })
    await failTimes(100, attempt, wrong, clock)
    const capped = await attempt()
    assert.deepEqual(statusAndCode(capped), tooMany)
    assert.match(capped.json().msg, /link sent by email/)
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, 0)
    clock.pass(24 * 60 * minuteMs)
    assert.deepEqual(statusAndCode(await attempt()), wrong)
  })

  test('limits emailed codes to 100 failures', async (t) => {
    const server = await build(t, { env })
    const { user } = await confirmedUser(server)
    const email = user.email ?? ''
    const clock = startClock(t)
    const attempt = () => verify(server.app, { type: 'email', email, token: '000000' })
    const device = () =>
      call(server.app, '/verify', { type: 'email', email, token: 'x' }, { headers: attacker })
    await failTimes(100, device, [403, 'otp_expired'], clock)
    assert.deepEqual(statusAndCode(await device()), tooMany)
    // The owner’s device has a separate counter.
    assert.deepEqual(statusAndCode(await attempt()), [403, 'otp_expired'])
    await server.mail.waitFor(
      ({ to, mail }) => to === email && /too many failed attempts/i.test(mail.subject ?? ''),
    )
  })
})

suite('daily limit of failed second factors', () => {
  test('notifies the user after three failures and rejects attempts after 100', async (t) => {
    const server = await build(t, { env: { ...everyFactor, ...env, ...unconfirmed } })
    const owner = await confirmedUser(server)
    const email = owner.user.email ?? ''
    const factor = await addTotp(server.app, owner)
    await stepUp(server.app, owner, factor)
    const before = server.mail.messages.length
    const stolen = await signedIn(server.app, email)
    const clock = startClock(t)
    const failed = [422, 'mfa_verification_failed']
    const attempt = () => attemptFactor(server, stolen, factor)
    await failTimes(2, attempt, failed, clock)
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, before)
    await failTimes(1, attempt, failed, clock)
    await server.mail.waitFor(
      ({ to, mail }) => to === email && /failed verifications/i.test(mail.subject ?? ''),
    )
    await failTimes(97, attempt, failed, clock)
    assert.deepEqual(statusAndCode(await attempt()), tooMany)
    await server.mail.waitFor(
      ({ to, mail }) => to === email && /too many failed attempts/i.test(mail.subject ?? ''),
    )
    assert.equal(server.mail.messages.length, before + 2)

    const link = await emailAfter(server, email, () => call(server.app, '/magiclink', { email }))
    assert.equal((await open(server.app, link)).statusCode, 303)
    await stepUp(server.app, await signedIn(server.app, email), factor)
  })
})

async function attemptFactor(
  { app }: Built,
  session: Session,
  { id, secret }: { id: string; secret: string },
) {
  const { id: challenge_id } = await challenge(app, session, id)
  return verifyChallenge(app, session, id, { challenge_id, code: wrongCode(secret) })
}

type Clock = ReturnType<typeof startClock>

function startClock(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  return { pass: (ms: number) => t.mock.timers.setTime(Date.now() + ms) }
}

/** Waits as long as each attempt blocks the next one, at most five minutes. */
async function failTimes(
  count: number,
  attempt: () => PromiseLike<Awaited<ReturnType<typeof call>>>,
  outcome: unknown[],
  clock: Clock,
): Promise<void> {
  for (let done = 0; done < count; done++) {
    assert.deepEqual(statusAndCode(await attempt()), outcome, `attempt ${done + 1}`)
    clock.pass(5 * minuteMs + 1000)
  }
}
