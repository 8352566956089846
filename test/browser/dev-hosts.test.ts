/** A site whose name resolves to this machine, in a real browser: it must not read emails of development. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { build } from '../support/server.ts'
import { executablePath, openBrowser } from './chromium.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('development inbox', { skip }, () => {
  test('is not served to a site whose name resolves to this machine', async (t) => {
    const { app } = await build(t, { dev: true })
    const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const browser = await openBrowser(t, { 'evil.example': '127.0.0.1' })
    const page = await browser.newPage()
    const status = () => page.evaluate("fetch('/dev/messages').then(({ status }) => status)")

    await page.goto(`http://evil.example:${port}/settings`)
    assert.equal(await status(), 403)
    await page.goto(`http://localhost:${port}/settings`)
    assert.equal(await status(), 200)
  })
})
