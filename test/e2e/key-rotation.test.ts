/** Keys are added and removed on two replicas while users sign in, refresh and present tokens to third parties. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { decodeJwt, decodeProtectedHeader } from 'jose'

import { adminCall } from '../support/admin.ts'
import { lastFirst } from '../support/processes/ending.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { refresh } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { createVerifier, fetchCurrentUser, startLoad } from '../support/token-load.ts'
import { autoconfirm, password, signedIn, signUpUser } from '../support/users.ts'

const tokenSeconds = 3600
const tickSeconds = 15
/** `cache-control: max-age` of the key set as verifiers use it; compared with the header below. */
const cacheSeconds = 600

const getKid = (token: string) => decodeProtectedHeader(token).kid
const rejected = { status: 403, error_code: 'bad_jwt' }

suite('key rotation', () => {
  test('no request fails during a rotation, and old tokens stay valid until they expire', async (t) => {
    const clock = startClock(t)
    const { apps, urls, verifiers, ending } = await startReplicas(t)
    const users = await Promise.all(apps.map(signUpUser))
    const [one] = apps
    const email = users[0]?.email ?? ''
    const oldKid = getKid(users[0]?.access_token ?? '')

    const load = startLoad({
      urls,
      users: [...users, ...users].map(({ email }) => ({ email, password })),
      verifiers,
    })
    ending.after(load.stop)
    await clock.run(60, load)
    const { keys } = await adminCall<Keys>(one, 'POST', '/admin/keys', { action: 'rotate' })
    const newKid = keys.find(({ state }) => state === 'standby')?.kid
    await clock.run(600, load)
    const { access_token: old } = await signedIn(one, email)
    await clock.run(600, load)
    await load.stop()

    assert.deepEqual(load.failures, [])
    assert.equal(getKid(old), oldKid, 'before every cache has expired, the old key signs')
    t.diagnostic(JSON.stringify(load.done))
    for (const app of apps) {
      const { access_token } = await signedIn(app, email)
      assert.equal(getKid(access_token), newKid, 'the new key signs at every replica')
    }
    const { exp = 0 } = decodeJwt(old)
    await clock.goTo(exp - 1)
    for (const url of urls) assert.equal((await fetchCurrentUser(url, old)).status, 200)
    for (const verify of verifiers) await verify(old, new Date())
    await clock.goTo(exp + 10)
    for (const url of urls) assert.deepEqual(await fetchCurrentUser(url, old), rejected)
    await clock.goTo(exp + 1200)
    const published = await fetch(`${urls[1]}/.well-known/jwks.json`)
    assert.equal(published.headers.get('cache-control'), `public, max-age=${cacheSeconds}`)
    const shown = (await published.json()) as Keys
    assert.deepEqual(
      shown.keys.map(({ kid }) => kid),
      [newKid],
    )
  })

  test('a revoked key is rejected on each replica within seconds without signing users out', async (t) => {
    const clock = startClock(t)
    const { apps, urls, verifiers } = await startReplicas(t)
    const [one, two] = apps
    const user = await signUpUser(two)
    const token = user.access_token
    for (const url of urls) assert.equal((await fetchCurrentUser(url, token)).status, 200)
    for (const verify of verifiers) await verify(token, new Date())

    const kid = getKid(token)
    await adminCall<Keys>(one, 'POST', '/admin/keys', { action: 'revoke', kid })

    assert.deepEqual(await fetchCurrentUser(urls[0], token), rejected)
    await within(async () => (await fetchCurrentUser(urls[1], token)).status === 403)
    const refreshed = await refresh(two, user.refresh_token)
    const fresh = refreshed.json().access_token
    assert.notEqual(getKid(fresh), kid)
    for (const url of urls) assert.equal((await fetchCurrentUser(url, fresh)).status, 200)
    await clock.goTo(clock.now() + cacheSeconds + 1)
    for (const verify of verifiers) {
      await assert.rejects(verify(token, new Date()), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
      await verify(fresh, new Date())
    }
  })
})

interface Keys {
  keys: { kid: string; state: string }[]
}

async function startReplicas(t: TestContext) {
  const env = { ...autoconfirm, AUTH_JWT_EXP: String(tokenSeconds) }
  // The first replica drops the database, so it is closed last.
  const ending = lastFirst(t)
  const { app: one, database } = await build(ending, { env })
  const { app: two } = await build(ending, { env: { ...env, DATABASE_URL: database.url } })
  const urls = [await listen(one), await listen(two)] as const
  const verifiers = urls.map((url) => createVerifier(url, cacheSeconds))
  return { apps: [one, two] as const, urls, verifiers, ending }
}

function listen(app: App): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** The clock and the replicas’ polling advance together, on demand. */
function startClock(t: TestContext) {
  const start = Math.ceil(Date.now() / 1000)
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: start * 1000 })
  let now = start

  async function tick(seconds: number): Promise<void> {
    t.mock.timers.tick(seconds * 1000)
    now += seconds
    await pause(2)
  }

  return {
    now: () => now,
    /** Advances the time in small steps with some requests in each. */
    async run(seconds: number, { done, failures }: ReturnType<typeof startLoad>) {
      for (const end = now + seconds; now < end && failures.length === 0; ) {
        const looks = done.looks
        await tick(tickSeconds)
        await within(() => done.looks > looks || failures.length > 0)
      }
    },
    async goTo(time: number): Promise<void> {
      await tick(time - now)
    },
  }
}

/** Polling stops with the clock, so that only a notification can cause the change. */
async function within(isSo: () => boolean | Promise<boolean>) {
  const end = performance.now() + waitTimeoutMs
  while (!(await isSo())) {
    assert.ok(performance.now() < end, 'it did not come to pass')
    await pause(2)
  }
}
