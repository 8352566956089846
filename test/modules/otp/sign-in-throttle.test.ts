/** Password attempts at one account are delayed after some failures, known account or not. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, password, signIn, signUpUser } from '../../support/users.ts'

suite('sign-in throttle', () => {
  const serverFor = sharedServers()

  for (const known of [true, false]) {
    test(`doubles the delay for ${known ? 'a known' : 'an unknown'} account`, async (t) => {
      const { app } = await serverFor(autoconfirm)
      const email = known ? (await signUpUser(app)).email : `${crypto.randomUUID()}@example.com`
      const clock = stop(t)
      for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)

      for (const wait of [1, 2, 4, 8]) {
        const rejected = await attempt(app, email)
        assert.equal(rejected.statusCode, 429)
        assert.equal(rejected.json().error_code, 'over_request_rate_limit')
        assert.equal(rejected.headers['retry-after'], String(wait))
        clock.advance(wait)
        assert.equal((await attempt(app, email)).statusCode, 400)
      }
    })
  }

  test('verifies one of several racing attempts after the delay', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await signUpUser(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    clock.advance(1)

    const burst = await Promise.all(Array.from({ length: 20 }, () => attempt(app, email)))

    const statuses = burst.map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 400).length, 1)
    assert.equal(statuses.filter((status) => status === 429).length, 19)
  })

  test('delays a correct password too, which resets the delay', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await signUpUser(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    assert.equal((await attempt(app, email, password)).statusCode, 429)
    clock.advance(1)
    assert.equal((await attempt(app, email, password)).statusCode, 200)
    for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)
  })

  test('resets the delay after an hour', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await signUpUser(app)
    const clock = stop(t)
    for (let i = 0; i < 10; i += 1) await attempt(app, email)
    clock.advance(3600)
    for (let i = 0; i < 10; i += 1) assert.equal((await attempt(app, email)).statusCode, 400)
  })

  test('does not delay another account', async () => {
    const { app } = await serverFor(autoconfirm)
    const [ann, bob] = [await signUpUser(app), await signUpUser(app)]
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
