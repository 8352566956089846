/** Auth.js as a relying party: its own server, its provider of type `oidc`, and a user in Chromium. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { startProgram } from '../services/programs.ts'
import { createClient } from '../support/oauth-server.ts'
import { freePort } from '../support/processes/free-port.ts'
import { signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { approveAt, openProvider, signInAt } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('Auth.js', { skip }, () => {
  test('signs a user in with PKCE, state and nonce', async (t) => {
    const { app, issuer, page } = await openProvider(t)
    const port = await freePort()
    const site = `http://127.0.0.1:${port}`
    const client = await createClient(app, { redirect_uris: [`${site}/auth/callback/example`] })
    const { client_id, client_secret = '' } = client
    const program = join(import.meta.dirname, 'authjs-site.mjs')
    const args = [program, String(port), issuer, client_id, client_secret]
    await startProgram(t, process.execPath, args, port)
    const account = await signUpUser(app)
    await page.goto(`${site}/auth/signin`)
    await page.getByRole('button', { name: /Example/ }).click()
    await signInAt(page, account)
    await approveAt(page)
    await page.waitForURL((url) => url.href.startsWith(site))
    await page.goto(`${site}/auth/session`)
    const session = JSON.parse((await page.locator('body').textContent()) ?? '')
    assert.equal(session.user.email, account.email)
  })
})
