/** Guessing at one account: slowed after a few failures, one attempt at a time, known account or not. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { autoconfirm, newPerson, password, signIn } from '../../support/people.ts'
import type { App } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

suite('failed sign-ins', () => {
  const serverFor = sharedServers()

  for (const known of [true, false]) {
    test(`the waits double, for ${known ? 'a known' : 'an unknown'} account`, async (t) => {
      const { app } = await serverFor(autoconfirm)
      const email = known ? (await newPerson(app)).email : `${crypto.randomUUID()}@example.com`
      const clock = stop(t)
      for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)

      for (const wait of [1, 2, 4, 8]) {
        const refused = await attempt(app, email)
        assert.equal(refused.statusCode, 429)
        assert.equal(refused.json().error_code, 'over_request_rate_limit')
        assert.equal(refused.headers['retry-after'], String(wait))
        clock.advance(wait)
        assert.equal((await attempt(app, email)).statusCode, 400)
      }
    })
  }

  test('a burst after the wait is one attempt', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await newPerson(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    clock.advance(1)

    const burst = await Promise.all(Array.from({ length: 20 }, () => attempt(app, email)))

    const statuses = burst.map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 400).length, 1)
    assert.equal(statuses.filter((status) => status === 429).length, 19)
  })

  test('the right password waits like a wrong one, and clears the account', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await newPerson(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    assert.equal((await attempt(app, email, password)).statusCode, 429)
    clock.advance(1)
    assert.equal((await attempt(app, email, password)).statusCode, 200)
    for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)
  })

  test('failures are forgotten after an hour', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await newPerson(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    clock.advance(3600)
    for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)
  })

  test('another account does not wait', async () => {
    const { app } = await serverFor(autoconfirm)
    const [ann, bob] = [await newPerson(app), await newPerson(app)]
    for (let i = 0; i < 11; i += 1) await attempt(app, ann.email)
    assert.equal((await attempt(app, bob.email, password)).statusCode, 200)
  })
})

function attempt(app: App, email: string, guess = 'not the password') {
  return signIn(app, { email, password: guess })
}

function stop(t: TestContext) {
  let now = Math.ceil(Date.now() / 1000) * 1000
  t.mock.timers.enable({ apis: ['Date'], now })
  return {
    advance(seconds: number): void {
      now += seconds * 1000
      t.mock.timers.setTime(now)
    },
  }
}
