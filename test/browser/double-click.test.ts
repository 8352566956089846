/** Double clicks in a browser, which sends the form twice and shows the second answer. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient, makePkce } from '../support/oauth-server.ts'
import { authorizeUrl } from '../support/page-browser.ts'
import { password, signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { openProvider } from './hosted-pages.ts'
import { findings, tooWide } from './page-checks.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('double clicks on the hosted pages', { skip }, () => {
  test('sign in, approve and lead to the client', async (t) => {
    const { app, issuer, page } = await openProvider(t)
    const target = `${issuer}/health`
    const client = await createClient(app, { redirect_uris: [target] })
    const { email } = await signUpUser(app)
    const url = authorizeUrl(client, makePkce().challenge, { redirect_uri: target })
    await page.goto(`${issuer}${url}`)
    await page.locator('#email').fill(email)
    await page.locator('#password').fill(password)
    await page.locator('button[value=password]').dblclick()
    await page.locator('button[value=approve]').waitFor()
    await page.locator('button[value=approve]').dblclick({ noWaitAfter: true })
    await page.waitForURL(/\/health\?code=/)
    const sessions = await app.db.selectFrom('sessions').select('id').execute()
    // Those of the sign-up and of the pages.
    assert.equal(sessions.length, 2)
  })

  test('show the reason of a return without layout or accessibility errors', async (t) => {
    const { issuer, page } = await openProvider(t)
    for (const [width, scheme] of [
      [360, 'light'],
      [1280, 'dark'],
    ] as const) {
      const options = {
        viewport: { width, height: 800 },
        colorScheme: scheme,
        bypassCSP: true,
      }
      const context = await page.context().browser()?.newContext(options)
      const shown = await context?.newPage()
      assert.ok(shown)
      for (const path of [
        '/sign-in?reason=opened_elsewhere',
        '/sign-in/recover?reason=link_used',
      ]) {
        await shown.goto(`${issuer}${path}`)
        await shown.locator('.note').waitFor()
        const folder = process.env.SCREENSHOTS
        if (folder) await shown.screenshot({ path: `${folder}/${width}-${path.length}.png` })
        assert.deepEqual(await tooWide(shown), [])
        assert.deepEqual(await findings(shown), [])
      }
    }
  })
})
