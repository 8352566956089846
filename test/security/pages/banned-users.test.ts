/** A ban ends what a browser holds for the hosted pages: the end of the ban does not sign it in again. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { startPageSession } from '../../../modules/page-session/index.ts'
import { accountPage, accountUser } from '../../support/account-pages.ts'
import { asAdmin } from '../../support/admin.ts'
import { openBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

type Ban = (app: App, id: string, isBanned: boolean) => ReturnType<typeof asAdmin>

const bans: Record<string, Ban> = {
  'PUT /admin/users/{user_id}': (app, id, isBanned) =>
    asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: isBanned ? '24h' : 'none' }),
  'POST /admin/users/bulk': (app, id, isBanned) =>
    asAdmin(app, 'POST', '/admin/users/bulk', {
      ids: [id],
      ...(isBanned ? { action: 'ban', ban_duration: '24h' } : { action: 'unban' }),
    }),
}

suite('page session of a banned user', () => {
  const serverFor = sharedServers()

  for (const [endpoint, ban] of Object.entries(bans)) {
    test(`does not live on after the ban by ${endpoint}`, async () => {
      const { app } = await serverFor({ ...accountPage, AUTH_CONSOLE_ENABLED: 'true' })
      const { browser, user, refresh_token } = await accountUser(app)
      const other = await accountUser(app)
      assert.equal((await ban(app, user.id, true)).statusCode, 200)
      assert.equal((await ban(app, user.id, false)).statusCode, 200)
      assert.equal(titleIn(await browser.open('/account')), 'Sign in')
      assert.notEqual(titleIn(await other.browser.open('/account')), 'Sign in')
      // Sessions of apps continue, as with GoTrue.
      assert.equal((await refresh(app, refresh_token)).statusCode, 200)
    })
  }

  test('is not created for a session from before the ban', async (t) => {
    const { app } = await build(t, { env: accountPage })
    const { user } = await accountUser(app)
    const { id } = await app.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow()
    await bans['PUT /admin/users/{user_id}']?.(app, user.id, true)
    const browser = openBrowser(app)
    browser.take(await startPageSession(app, id, new Date()))
    await bans['PUT /admin/users/{user_id}']?.(app, user.id, false)
    assert.equal(titleIn(await browser.open('/account')), 'Sign in')
  })
})
