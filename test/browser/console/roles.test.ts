/** What admins of each role see, and the effect of removing a role. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { until } from '../../support/processes/until.ts'
import { executablePath } from '../chromium.ts'
import {
  makeAdmin,
  makeUser,
  message,
  open,
  openConsole,
  openSignedIn,
  signInAtPages,
} from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('roles in the console', { skip }, () => {
  test('adds an admin, changes the role with undo and removes the admin', async (t) => {
    const site = await openSignedIn(t)
    const user = await makeUser(site)
    const { page } = site
    await open(page, 'Admins')
    await page.getByRole('button', { name: 'Add admin' }).click()
    const form = page.getByRole('dialog', { name: 'Add an admin' })
    await form.getByLabel('Email').fill(user.email)
    await form.getByRole('button', { name: 'Add admin' }).click()
    const role = page.getByRole('combobox', { name: `Role of ${user.email}` })
    await role.selectOption('Operator')
    await message(page, 'The role was changed')
    assert.deepEqual(await listRoles(site.app), ['operator'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await role.inputValue()) === 'support')
    await page.getByRole('button', { name: /^Remove / }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove admin' }).click()
    await page.getByText('No admins yet').waitFor()
  })

  test('hides actions that the support role may not perform', async (t) => {
    const site = await openConsole(t)
    await makeAdmin(site, 'owner')
    const user = await makeUser(site)
    const support = await makeAdmin(site, 'support')
    const { page, url } = site
    await signInAtPages(page, `${url}/console/users/${user.id}`, support)
    const send = page.getByRole('button', { name: 'Edit' })
    await send.waitFor()
    assert.equal(await send.isDisabled(), true)
    await page.getByText('Actions ▾').click()
    for (const name of ['Ban', 'Impersonate', 'Delete']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).isDisabled(), true, name)
    }
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link')
    assert.ok(!(await links.allInnerTexts()).includes('Admins'))
  })

  test('rejects the next change of an admin whose role was removed', async (t) => {
    const site = await openConsole(t)
    await makeAdmin(site, 'owner')
    const operator = await makeAdmin(site, 'operator')
    const user = await makeUser(site)
    const { app, page, url } = site
    await signInAtPages(page, `${url}/console/users/${user.id}`, operator)
    await page.getByRole('button', { name: 'Edit' }).click()
    await asAdmin(app, 'DELETE', `/admin/admins/${operator.id}`)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Role').fill('editor')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    const { role } = (await asAdmin(app, 'GET', `/admin/users/${user.id}`)).json()
    assert.equal(role, 'authenticated')
  })
})

async function listRoles(app: Parameters<typeof asAdmin>[0]): Promise<string[]> {
  const { admins } = (await asAdmin(app, 'GET', '/admin/admins')).json()
  return admins.map(({ role }: { role: string }) => role)
}
