/** The identity providers of an organization in the console. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Locator } from 'playwright-core'

import { asAdmin } from '../../support/admin.ts'
import { add, oauth2Input } from '../../support/custom-providers/requests.ts'
import { executablePath } from '../chromium.ts'
import { makeOrganization, message, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('connections of an organization in the console', { skip }, () => {
  test('assign roles by rules whose order can be changed', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    await add(app, oauth2Input('https://8.8.8.8'))
    const { id } = await makeOrganization(site, { name: 'Acme' })
    await page.getByRole('link', { name: 'Organizations' }).click()
    await page.getByRole('link', { name: 'Acme' }).click()
    await page.getByRole('link', { name: 'Connections' }).click()
    await page.getByRole('button', { name: 'Bind provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Acme login')
    await dialog.getByLabel('Provider').fill('custom:plain')
    await addRule(dialog, 1, 'staff', 'member')
    await addRule(dialog, 2, 'it', 'admin')
    await dialog.getByRole('button', { name: 'Bind provider' }).click()
    await message(page, 'Acme login was added')
    assert.deepEqual(await listRules(), ['groups=staff member', 'groups=it admin'])

    await page.getByRole('button', { name: 'Edit Acme login' }).click()
    await dialog.getByRole('button', { name: 'Move rule 2 up' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await message(page, 'Acme login was changed')
    assert.deepEqual(await listRules(), ['groups=it admin', 'groups=staff member'])

    await page.getByRole('button', { name: 'Edit Acme login' }).click()
    await dialog.getByRole('button', { name: 'Remove rule 2' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(await listRules(), ['groups=it admin'])

    async function listRules(): Promise<string[]> {
      const response = await asAdmin(app, 'GET', `/admin/organizations/${id}/connections`)
      assert.equal(response.statusCode, 200, response.body)
      const [{ role_mapping }] = response.json().connections
      return role_mapping.map(
        ({ attribute, value, role }: Record<string, string>) => `${attribute}=${value} ${role}`,
      )
    }
  })
})

async function addRule(dialog: Locator, number: number, value: string, role: string) {
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const rule = dialog.getByRole('group', { name: `Rule ${number}` })
  await rule.getByLabel('Value').fill(value)
  await rule.getByLabel('Role').selectOption(role)
}
