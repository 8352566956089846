/** The page between a link and its effect, in a real browser: looks, keyboard, and the redirect its policy must allow. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter } from '../support/messages/mail-journeys.ts'
import { linkIn } from '../support/messages/mail-links.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { newAddress } from '../support/users.ts'
import { executablePath, openBrowser } from './chromium.ts'
import { startSite } from './site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('confirmation page of an emailed link', { skip }, () => {
  for (const { width, scheme } of [
    { width: 320, scheme: 'light' as const },
    { width: 800, scheme: 'dark' as const },
  ]) {
    test(`signs in on the site by its button at ${width} px, ${scheme}`, async (t) => {
      const server = await build(t, { env: { AUTH_MAILER_LINK_CONFIRMATION: 'true' } })
      const origin = await server.app.listen({ host: '127.0.0.1', port: 0 })
      const site = await startSite(t)
      const browser = await openBrowser(t, {
        'auth.example': new URL(origin).host,
        'app.example': `127.0.0.1:${new URL(site.url).port}`,
      })
      const page = await browser.newPage({ viewport: { width, height: 600 }, colorScheme: scheme })
      const messages: string[] = []
      page.on('console', (message) => void messages.push(message.text()))
      page.on('pageerror', (error) => void messages.push(error.message))

      const email = newAddress()
      const message = await emailAfter(server, email, () => call(server.app, '/otp', { email }))
      await page.goto(linkIn(message))
      const overflow = 'document.documentElement.scrollWidth > window.innerWidth'
      assert.equal(await page.evaluate(overflow), false, 'nothing has to be scrolled sideways')
      const folder = process.env.TEST_SCREENSHOTS
      if (folder) await page.screenshot({ path: `${folder}/link-page-${width}-${scheme}.png` })
      assert.deepEqual(
        messages.filter((text) => !text.includes('favicon')),
        [],
      )

      // The button has the focus, soon after the page is there, so that Enter is enough.
      await page.locator('button:focus').waitFor()
      await Promise.all([page.waitForURL('http://app.example/**'), page.keyboard.press('Enter')])
      const fragment = new URLSearchParams(new URL(page.url()).hash.slice(1))
      assert.equal(fragment.get('type'), 'signup')
      assert.ok(fragment.get('access_token'))
    })
  }
})
