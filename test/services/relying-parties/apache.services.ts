/** Apache with mod_auth_openidc signs a user in through the hosted pages, in Chromium. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { suite, test } from 'node:test'

import { executablePath } from '../../browser/chromium.ts'
import { approveAt, openProvider, signInAt } from '../../browser/hosted-pages.ts'
import { createClient } from '../../support/oauth-server.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { signUpUser } from '../../support/users.ts'
import { missing } from '../programs.ts'
import { startApache } from './apache.ts'

const module = '/usr/lib/apache2/modules/mod_auth_openidc.so'
const skip =
  missing('apache2') ||
  (!existsSync(module) && 'not installed: libapache2-mod-auth-openidc') ||
  (executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)')

suite('Apache mod_auth_openidc', { skip }, () => {
  test('signs a user in and logs out at the provider', async (t) => {
    const { app, issuer, page } = await openProvider(t)
    const port = await freePort()
    const site = `http://127.0.0.1:${port}`
    const client = await createClient(app, {
      redirect_uris: [`${site}/callback`],
      post_logout_redirect_uris: [`${issuer}/sign-in`],
    })
    const { client_id: clientId, client_secret: clientSecret = '' } = client
    await startApache(t, { port, issuer, clientId, clientSecret })
    const account = await signUpUser(app)

    await page.goto(`${site}/`)
    await signInAt(page, account)
    await approveAt(page)
    await page.waitForURL(`${site}/`)
    assert.equal(await page.locator('#email').textContent(), account.email)
    assert.match((await page.locator('#user').textContent()) ?? '', new RegExp(account.user.id))

    const after = encodeURIComponent(`${issuer}/sign-in`)
    await page.goto(`${site}/callback?logout=${after}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${issuer}/sign-in*`)
    await page.goto(`${site}/`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('signs a user with a session and a grant in without a page', async (t) => {
    const { app, issuer, page } = await openProvider(t)
    const port = await freePort()
    const site = `http://127.0.0.1:${port}`
    const client = await createClient(app, { redirect_uris: [`${site}/callback`] })
    const { client_id: clientId, client_secret: clientSecret = '' } = client
    await startApache(t, { port, issuer, clientId, clientSecret })
    const account = await signUpUser(app)
    await page.goto(`${site}/`)
    await signInAt(page, account)
    await approveAt(page)
    await page.waitForURL(`${site}/`)
    await page.context().clearCookies({ name: 'mod_auth_openidc_session' })
    await page.goto(`${site}/`)
    await page.waitForURL(`${site}/`)
    assert.equal(await page.locator('#email').textContent(), account.email)
  })
})
