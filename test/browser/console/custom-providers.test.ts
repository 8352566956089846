/** Custom providers in the console: each shows the callback URL that is to be registered. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { oauth2Input } from '../../support/custom-providers/requests.ts'
import { executablePath } from '../chromium.ts'
import { message, open, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('custom providers in the console', { skip }, () => {
  test('show a callback URL of their own, which an older provider can get', async (t) => {
    const { app, page, url } = await openSignedIn(t)
    await open(page, 'Providers')
    await page.getByRole('link', { name: 'Custom providers' }).click()
    await page.getByRole('button', { name: 'Add provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Acme')
    await dialog.getByLabel('Identifier').fill('acme')
    await dialog.getByLabel('Protocol').selectOption('oauth2')
    for (const part of ['Authorization', 'Token', 'User info']) {
      await dialog.getByLabel(`${part} URL`).fill('https://8.8.8.8/oauth')
    }
    await dialog.getByLabel('Client id').fill('id')
    await dialog.getByLabel('Client secret').fill('secret')
    await dialog.getByRole('button', { name: 'Add provider' }).click()
    await message(page, /Acme was added/)
    const own = `${url}/providers/custom:acme/callback`
    const row = page.getByRole('row', { name: /custom:acme/ })
    await row.getByText(own, { exact: true }).waitFor()
    assert.equal(await row.getByText('Shared').count(), 0)

    // As GoTrue and earlier versions stored it.
    await app.db.deleteFrom('postern_custom_provider_options').execute()
    await open(page, 'Providers')
    await page.getByRole('link', { name: 'Custom providers' }).click()
    await row.getByText('Shared').waitFor()
    await row.getByText(`${url}/callback`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit Acme' }).click()
    await dialog.getByText(own, { exact: true }).waitFor()
    await dialog.getByLabel('Use a callback URL of its own').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await message(page, /Acme was changed/)
    await row.getByText(own, { exact: true }).waitFor()
    const { providers } = (await asAdmin(app, 'GET', '/admin/custom-providers')).json()
    assert.equal(providers[0].shared_callback, false)
  })

  test('show that an organization had the provider, until an owner makes it one of the server', async (t) => {
    const { app, page } = await openSignedIn(t)
    const input = oauth2Input('https://8.8.8.8', { organization_bound: true })
    await asAdmin(app, 'POST', '/admin/custom-providers', input)
    await open(page, 'Providers')
    await page.getByRole('link', { name: 'Custom providers' }).click()
    const row = page.getByRole('row', { name: /custom:plain/ })
    await row.getByText('Of an organization').waitFor()
    await page.getByRole('button', { name: 'Edit Plain' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Make it a provider of the server').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await message(page, /Plain was changed/)
    await row.getByText('Of an organization').waitFor({ state: 'detached' })
    const found = await asAdmin(app, 'GET', '/admin/custom-providers/custom:plain')
    assert.equal(found.json().organization_bound, false)
  })
})
