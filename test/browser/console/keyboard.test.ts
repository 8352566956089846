/** Daily tasks of operators with the keyboard only. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Locator, Page } from 'playwright-core'

import { asAdmin } from '../../support/admin.ts'
import { newAddress } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { makeUser, message, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('console with the keyboard', { skip }, () => {
  test('creates and bans a user, and gives the focus back to the menu', async (t) => {
    const { page } = await openSignedIn(t)
    await pressOn(page, linkTo(page, 'Users'))
    await page.getByRole('heading', { level: 1, name: 'Users' }).and(focused(page)).waitFor()
    await pressOn(page, page.getByRole('button', { name: 'Create user' }))
    await page.getByRole('textbox', { name: 'Email' }).and(focused(page)).waitFor()
    const email = newAddress()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: email }).and(focused(page)).waitFor()

    const menu = page.locator('summary', { hasText: 'Actions' })
    await pressOn(page, menu)
    await pressOn(page, page.getByRole('button', { name: 'Ban' }))
    const dialog = page.getByRole('dialog', { name: `Ban ${email}` })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await menu.and(focused(page)).waitFor()
    await page.keyboard.press('Enter')
    await pressOn(page, page.getByRole('button', { name: 'Ban' }))
    await pressOn(page, dialog.getByRole('button', { name: 'Ban user' }))
    await page.getByText('Banned', { exact: true }).waitFor()
    await menu.and(focused(page)).waitFor()
    await pressOn(page, page.getByRole('button', { name: 'Undo' }))
    await page.getByText('Banned', { exact: true }).waitFor({ state: 'detached' })
  })

  test('deletes selected users after a typed confirmation', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const user = await makeUser(site)
    await pressOn(page, linkTo(page, 'Users'))
    await pressOn(page, page.getByRole('checkbox', { name: `Select ${user.email}` }), 'Space')
    const bar = page.getByRole('region', { name: 'Selected users' })
    await pressOn(page, bar.getByRole('button', { name: 'Delete' }), 'Enter', 'Shift+Tab')
    await page.getByRole('textbox', { name: /^Type/ }).and(focused(page)).waitFor()
    await page.keyboard.type('delete 1 user')
    await page.keyboard.press('Enter')
    await message(page, '1 deleted')
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${user.id}`)).statusCode, 404)
    // The row and the selection bar are removed.
    await page.locator('#content').and(focused(page)).waitFor()
  })

  test('changes a setting and reverts it', async (t) => {
    const { page } = await openSignedIn(t)
    const name = 'AUTH_SESSIONS_TIMEBOX'
    await pressOn(page, linkTo(page, 'Settings'))
    await pressOn(page, page.getByRole('searchbox', { name: 'Search settings' }), 'a')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('timebox')
    const change = page.getByRole('button', { name: `Change ${name}` })
    await pressOn(page, change)
    await page
      .getByRole('textbox', { name: `Value of ${name}` })
      .and(focused(page))
      .waitFor()
    await page.keyboard.type('24h')
    await page.keyboard.press('Enter')
    await message(page, `${name} was changed`)
    await change.and(focused(page)).waitFor()
    await pressOn(page, page.getByRole('link', { name: 'Changes' }), 'Enter', 'Shift+Tab')
    await pressOn(page, page.getByRole('button', { name: `Revert ${name}` }))
    await message(page, `${name} was restored`)
  })
})

/** In the navigation. */
const linkTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name })

/** The element that has the focus. */
const focused = (page: Page) => page.locator(':focus')

/** Moves the focus to the element by Tab alone, then presses the key. */
async function pressOn(page: Page, target: Locator, key = 'Enter', by = 'Tab'): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 100; presses++) {
    if (await target.and(focused(page)).isVisible()) return page.keyboard.press(key)
    await page.keyboard.press(by)
  }
  assert.fail(`${by} does not reach ${target}`)
}
