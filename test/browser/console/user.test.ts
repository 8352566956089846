/** Actions of operators on one user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { asAdmin } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { until } from '../../support/processes/until.ts'
import { signedIn } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { type ConsoleSite, makeUser, message, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('user in the console', { skip }, () => {
  test('is banned for a time, and the ban can be undone', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site)
    const { page } = site
    await chooseAction(site, 'Ban')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Duration').selectOption('1 week')
    await dialog.getByRole('button', { name: 'Ban user' }).click()
    await page.getByText('Banned', { exact: true }).waitFor()
    const { banned_until } = await read(site, user)
    const days = (new Date(banned_until ?? 0).getTime() - Date.now()) / 86_400_000
    assert.ok(days > 6.9 && days < 7.1, `${days}`)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Confirmed', { exact: true }).waitFor()
  })

  test('gets an email with a link', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site)
    const { page } = site
    await page.getByRole('button', { name: 'Send link' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send a link' })
    await dialog.getByLabel('Kind').selectOption('Password recovery')
    await dialog.getByRole('button', { name: `Send to ${user.email}` }).click()
    await message(page, `The link was sent to ${user.email}`)
    assert.match(linkIn(await nextEmail(site, user.email)), /type=recovery/)
  })

  test('has metadata that is validated while typed and restored by undo', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site, { user_metadata: { plan: 'free', team: 'red' } })
    const { page } = site
    await page.getByRole('link', { name: 'Metadata' }).click()
    const card = page.getByRole('region', { name: 'User metadata' })
    const editor = card.getByRole('textbox')
    await editor.fill('{"plan": ')
    await card.getByText(/JSON/).last().waitFor()
    assert.equal(await editor.getAttribute('aria-invalid'), 'true')
    assert.equal(await card.getByRole('button', { name: 'Save' }).isDisabled(), true)
    await editor.fill('{"plan": "pro"}')
    await card.getByRole('button', { name: 'Save' }).click()
    await message(page, 'User metadata saved')
    const saved = (await read(site, user)).user_metadata
    assert.deepEqual([saved.plan, saved.team], ['pro', undefined])
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await editor.inputValue()).includes('red'))
    const restored = (await read(site, user)).user_metadata
    assert.deepEqual([restored.plan, restored.team], ['free', 'red'])
  })

  test('is signed out on one device', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site)
    const { app, page } = site
    await signedIn(app, user.email, { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' })
    await page.getByRole('link', { name: 'Sessions' }).click()
    const row = page.getByRole('row', { name: /Firefox on Linux/ })
    await row.getByRole('button', { name: 'End' }).click()
    await page.getByText('Not signed in').waitFor()
    const { sessions } = (await asAdmin(app, 'GET', `/admin/users/${user.id}/sessions`)).json()
    assert.deepEqual(sessions, [])
  })

  test('is impersonated under a banner, for a reason that the audit log records', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site)
    const { app, page } = site
    await chooseAction(site, 'Impersonate')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Ticket 42')
    await dialog.getByRole('button', { name: 'Open a session' }).click()
    const banner = page.getByRole('region', { name: 'Impersonation' })
    await banner.getByText(`You are impersonating ${user.email}`).waitFor()
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByText('User impersonated').waitFor()
    const entries = (await asAdmin(app, 'GET', '/admin/audit?query=action:user_impersonated')).body
    assert.ok(entries.includes('Ticket 42'))
    await banner.getByRole('button', { name: 'End session' }).click()
    await banner.waitFor({ state: 'detached' })
    const { sessions } = (await asAdmin(app, 'GET', `/admin/users/${user.id}/sessions`)).json()
    assert.deepEqual(sessions, [])
  })

  test('is deleted after typing the address, and the dialog lists what is deleted', async (t) => {
    const site = await openSignedIn(t)
    const user = await openUser(site)
    const { app, page } = site
    await signedIn(app, user.email)
    await chooseAction(site, 'Delete')
    const dialog = page.getByRole('dialog', { name: `Delete ${user.email}` })
    await dialog.getByText('1 identity').waitFor()
    await dialog.getByText('1 session').waitFor()
    await dialog.getByLabel(/^Type/).fill(user.email)
    await dialog.getByRole('button', { name: 'Delete user' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${user.id}`)).statusCode, 404)
  })

  test('has a URL for each tab', async (t) => {
    const site = await openSignedIn(t)
    await openUser(site)
    const { page } = site
    for (const tab of ['Security', 'Sessions', 'Email', 'Connected apps', 'Activity']) {
      const tabs = page.getByRole('navigation', { name: 'User' })
      await tabs.getByRole('link', { name: tab }).click()
      await tabs.locator('[aria-current=page]', { hasText: tab }).waitFor()
      assert.match(page.url(), /\?tab=/)
    }
    await page.goBack()
    await page.locator('[aria-current=page]', { hasText: 'Connected apps' }).waitFor()
  })
})

async function openUser(site: ConsoleSite, fields: object = {}): Promise<User> {
  const user = await makeUser(site, fields)
  const { page } = site
  await page.getByRole('link', { name: 'Users', exact: true }).first().click()
  await page.getByRole('link', { name: user.email }).click()
  await page.getByRole('heading', { level: 1, name: user.email }).waitFor()
  return user
}

async function chooseAction({ page }: ConsoleSite, name: string): Promise<void> {
  await page.getByText('Actions ▾').click()
  await page.getByRole('button', { name, exact: true }).click()
}

async function read({ app }: ConsoleSite, { id }: User): Promise<User> {
  return (await asAdmin(app, 'GET', `/admin/users/${id}`)).json()
}
