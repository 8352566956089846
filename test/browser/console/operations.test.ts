/** Keys, OAuth clients, webhooks and the audit log, as operators use them in the console. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { asAdmin } from '../../support/admin.ts'
import { serve } from '../../support/processes/listening.ts'
import { until } from '../../support/processes/until.ts'
import { executablePath } from '../chromium.ts'
import { settled } from '../page-checks.ts'
import { makeUser, message, open, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('operations in the console', { skip }, () => {
  test('rotates the signing key and revokes a key after a typed confirmation', async (t) => {
    const { app, page } = await openSignedIn(t)
    await open(page, 'Signing keys')
    await page.getByRole('button', { name: 'Rotate' }).click()
    const rotation = page.getByRole('dialog', { name: 'Rotate the signing key' })
    await rotation.getByLabel('Algorithm').selectOption('EdDSA')
    await rotation.getByRole('button', { name: 'Rotate' }).click()
    const row = page.getByRole('row', { name: /EdDSA/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke the signing key' })
    await dialog.getByLabel(/^Type/).fill('revoke')
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('Revoked').waitFor()
    const { keys } = (await asAdmin(app, 'GET', '/admin/keys')).json()
    const states = keys.map(({ alg, state }: { alg: string; state: string }) => `${alg} ${state}`)
    assert.ok(states.includes('EdDSA revoked') && states.includes('ES256 current'), states)
  })

  test('creates an OAuth client, shows its secret once, and deletes it', async (t) => {
    const { app, page } = await openSignedIn(t)
    await open(page, 'OAuth clients')
    await page.getByRole('button', { name: 'Create client' }).click()
    const form = page.getByRole('dialog', { name: 'Create a client' })
    await form.getByLabel('Name').fill('Wiki')
    await form.getByLabel('Redirect URIs').fill('no address')
    await form.getByRole('button', { name: 'Create client' }).click()
    await form.getByRole('alert').getByText('Redirect URIs: a URL must have').waitFor()
    await form.locator('textarea:focus').fill('https://wiki.example.com/callback')
    await form.getByRole('button', { name: 'Create client' }).click()
    const shown = page.getByRole('dialog', { name: 'Client secret' })
    const secret = await shown.locator('code').innerText()
    assert.ok(secret.length > 20)
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { level: 1, name: 'Wiki' }).waitFor()
    await page.reload()
    const { clients } = (await asAdmin(app, 'GET', '/admin/oauth/clients')).json()
    assert.deepEqual(
      clients.map(({ client_name }: OauthClient) => client_name),
      ['Wiki'],
    )
    assert.ok(!(await page.content()).includes(secret))
  })

  test('deletes an OAuth client once its name is typed', async (t) => {
    const { app, page } = await openSignedIn(t)
    const uris = { redirect_uris: ['https://wiki.example.com/callback'] }
    await asAdmin(app, 'POST', '/admin/oauth/clients', { client_name: 'Wiki', ...uris })
    await open(page, 'OAuth clients')
    await page.getByRole('link', { name: 'Wiki' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete the client' })
    await dialog.getByLabel(/^Type/).fill('Wiki')
    await dialog.getByRole('button', { name: 'Delete client' }).click()
    await page.getByText('No clients').waitFor()
  })

  test('adds a webhook, tests it, pauses it with undo, and replays a delivery', async (t) => {
    const site = await openSignedIn(t)
    const { page } = site
    const receiver = createServer((_request, response) => void response.writeHead(204).end())
    const port = await serve(t, receiver)
    await open(page, 'Webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const form = page.getByRole('dialog', { name: 'Add a webhook' })
    await form.getByLabel('Address').fill(`http://127.0.0.1:${port}/hook`)
    await form.getByLabel('Description').fill('Billing')
    await form.getByRole('button', { name: 'Add webhook' }).click()
    const shown = page.getByRole('dialog', { name: 'Signing secret' })
    assert.match(await shown.locator('code').innerText(), /^whsec_/)
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Billing' }).click()
    await page.getByRole('button', { name: 'Send test event' }).click()
    await message(page, 'The endpoint accepted the test event: status 204')
    await makeUser(site)
    const state = page.getByRole('combobox', { name: 'State' })
    // Events are sent in the background.
    await until(async () => {
      await state.selectOption('All')
      await state.selectOption('Delivered')
      await settled(page)
      return (await page.getByRole('row', { name: /user\.created/ }).count()) > 0
    })
    await page
      .getByRole('row', { name: /user\.created/ })
      .getByText('Replay')
      .click()
    await message(page, 'The event was queued again')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Active', { exact: true }).waitFor()
  })

  test('searches the audit log by author and action', async (t) => {
    const site = await openSignedIn(t)
    const user = await makeUser(site)
    await asAdmin(site.app, 'DELETE', `/admin/users/${user.id}`)
    const { page } = site
    await open(page, 'Audit log')
    await page.getByLabel('Action').fill('user_deleted')
    await page.getByLabel('Action').press('Enter')
    await page.waitForURL(/\?action=user_deleted$/)
    await page.getByRole('cell', { name: 'User deleted' }).waitFor()
    await until(async () => (await page.getByRole('row').count()) === 2)
  })
})
