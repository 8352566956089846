/** AUTH_SESSIONS_* at sessions of the hosted pages. The clock is moved; times are seconds after the sign-in. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { accountPage, accountUser, type Browser } from '../support/account-pages.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { refresh } from '../support/requests.ts'
import { autoconfirm, signedIn } from '../support/users.ts'

suite('session of the hosted pages', () => {
  const serverFor = sharedServers()

  test('stays active while its pages are used', async (t) => {
    const { app } = await serverFor({
      ...autoconfirm,
      ...accountPage,
      AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h',
      AUTH_PAGES_SESSION_TTL: '2h',
    })
    const at = clock(t)
    const { browser } = await accountUser(app)
    for (const seconds of [1800, 3600, 5400, 7200]) {
      at(seconds)
      assert.ok(await isSignedIn(browser), String(seconds))
    }
    at(7200 + 3601)
    assert.ok(!(await isSignedIn(browser)), 'inactive')
  })

  test('ends at a later sign-in when one session per user is allowed', async (t) => {
    const single = { AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app } = await serverFor({ ...autoconfirm, ...accountPage, ...single })
    const at = clock(t)
    const { browser, email } = await accountUser(app)
    at(120)
    assert.ok(await isSignedIn(browser))
    at(121)
    const later = await signedIn(app, email)
    at(300)
    assert.ok(!(await isSignedIn(browser)))
    assert.equal((await refresh(app, later.refresh_token)).statusCode, 200)
  })
})

async function isSignedIn(browser: Browser): Promise<boolean> {
  const { status, location } = await browser.send('GET', '/account')
  return status === 200 && location === undefined
}

/** Stops the clock at a full second and returns how to move it. */
function clock(t: TestContext): (seconds: number) => void {
  const started = Math.ceil(Date.now() / 1000) * 1000
  t.mock.timers.enable({ apis: ['Date'], now: started })
  return (seconds) => t.mock.timers.setTime(started + seconds * 1000)
}
