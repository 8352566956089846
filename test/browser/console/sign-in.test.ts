/** Every sign-in to the console, and the sign-out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { firstAdminLink } from '../../../server/first-admin-link.ts'
import { asAdmin } from '../../support/admin.ts'
import { totpCode } from '../../support/factors/factors.ts'
import { newAddress, password } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import {
  makeAdmin,
  makeUser,
  openConsole,
  signInAtPages,
  signInPages,
  signInWithKey,
} from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('sign-in to the console', { skip }, () => {
  test('redirects to the requested page after the sign-in pages', async (t) => {
    const site = await openConsole(t)
    const owner = await makeAdmin(site, 'owner')
    const { page, url } = site
    await signInAtPages(page, `${url}/console/users?state=banned`, owner)
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    assert.equal(page.url(), `${url}/console/users?state=banned`)
    await page.reload()
    await page.getByText(owner.email).first().waitFor()
  })

  test('rejects a user who is not an admin, and offers to sign out', async (t) => {
    const site = await openConsole(t)
    const user = await makeUser(site)
    const { page, url } = site
    await signInPages(page, `${url}/console`, user)
    await page.getByText('is not an admin of this server').waitFor()
    await page.getByRole('button', { name: `Sign out ${user.email}` }).click()
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  })

  test('creates the first admin with a one-time link and removes its token from the address', async (t) => {
    const { app, config, page, url } = await openConsole(t)
    const email = newAddress('first')
    await page.goto((await firstAdminLink(config)) ?? '')
    await page.getByRole('heading', { name: 'Become an admin' }).waitFor()
    assert.equal(page.url(), `${url}/console`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText(email).first().waitFor()
    const { admins } = (await asAdmin(app, 'GET', '/admin/admins')).json()
    assert.deepEqual(
      admins.map((admin: { email: string; role: string }) => [admin.email, admin.role]),
      [[email, 'owner']],
    )
  })

  test('requires the second factor of an admin, who can add one on the account page', async (t) => {
    const site = await openConsole(t, {
      AUTH_CONSOLE_REQUIRE_MFA: 'true',
      AUTH_ACCOUNT_PAGE_ENABLED: 'true',
    })
    const owner = await makeAdmin(site, 'owner')
    const { another, page, url } = site
    await signInPages(page, `${url}/console`, owner)
    await page.getByRole('link', { name: 'Add a second factor' }).click()
    await page.getByText('Add an authenticator app').click()
    await page.getByRole('button', { name: 'Continue' }).click()
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code', { exact: true }).fill(totpCode(secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('status').waitFor()
    await page.goto(`${url}/console`)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()

    const next = await another()
    await signInPages(next, `${url}/console`, owner)
    await next.getByRole('link', { name: 'Verify your second factor' }).click()
    const form = next.getByLabel('Code', { exact: true })
    await form.fill(totpCode(secret, 1))
    await next.getByRole('button', { name: 'Continue' }).click()
    await next.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('revokes the session on the server when the admin signs out', async (t) => {
    const site = await openConsole(t)
    const owner = await makeAdmin(site, 'owner')
    const { app, page, url } = site
    await signInAtPages(page, `${url}/console`, owner)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
    const { sessions } = (await asAdmin(app, 'GET', `/admin/users/${owner.id}/sessions`)).json()
    assert.deepEqual(sessions, [])
  })

  test('does not write a service key to URLs, storage or the log', async (t) => {
    const lines: string[] = []
    const site = await openConsole(t, {}, lines)
    const { page } = site
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    const key = await signInWithKey(site, page)
    await page.getByRole('link', { name: 'Users', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    const kept = await page.evaluate(
      '[location.href, document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(history.state)].join()',
    )
    const cookies = JSON.stringify(await page.context().cookies())
    assert.ok(addresses.length > 2 && lines.length > 2)
    for (const text of [...addresses, ...lines, String(kept), cookies]) {
      assert.ok(!text.includes(key) && !text.includes(key.split('.')[2] ?? ''), text)
    }
    await page.reload()
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  })
})
