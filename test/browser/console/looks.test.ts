/**
 * Every page of the console on a phone and on a desktop, light and dark: nothing is wider than the screen, axe finds nothing
 * serious, no error is thrown. With SCREENSHOTS=FOLDER, pictures to look at.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import type { Page } from 'playwright-core'

import { asAdmin } from '../../support/admin.ts'
import { signedIn } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { findings } from '../page-checks.ts'
import {
  type ConsoleSite,
  makeOrganization,
  makeUser,
  openConsole,
  signInWithKey,
} from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const folder = process.env.SCREENSHOTS

const screens = [360, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

suite('pages of the console', { skip }, () => {
  for (const { width, scheme } of screens) {
    const name = `${width}-${scheme}`
    test(`look right on ${width} px, ${scheme}`, { timeout: 600_000 }, async (t) => {
      const site = await openConsole(t)
      const tabs = [...(await tabsOfUser(site)), ...(await tabsOfOrganization(site))]
      const page = await site.another({ viewport: { width, height: 800 }, colorScheme: scheme })
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(message))
      await page.goto(`${site.url}/console`)
      await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
      await look(page, `sign-in-${name}`)
      await signInWithKey(site, page)
      for (const path of [...(await pathsOf(page)), ...tabs]) {
        await t.test(path, async () => {
          await go(page, path)
          await look(page, `${path.replaceAll(/[^a-z]+/gi, '-')}-${name}`)
        })
      }
      await t.test('dialog', async () => {
        await go(page, '/users')
        await page.getByRole('button', { name: 'Create user' }).click()
        await look(page, `dialog-${name}`)
      })
      await t.test('dialog of an organization', async () => {
        await go(page, tabs.find((path) => path.startsWith('/organizations')) ?? '')
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        await look(page, `dialog-organization-${name}`)
      })
      assert.deepEqual(errors, [])
    })
  }

  test('can be used with the keyboard alone', async (t) => {
    const site = await openConsole(t)
    await signInWithKey(site, site.page)
    const { page } = site
    await go(page, '/users')
    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'Skip to the page' }).press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
    const create = page.getByRole('button', { name: 'Create user' })
    await create.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Create a user' })
    await dialog.waitFor()
    assert.equal(await page.evaluate('document.activeElement.name'), 'email')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Create user')
  })
})

/** The names of tabs that lie partly outside their row or the screen, in the page. */
const clippedTabs = `[...document.querySelectorAll('nav.tabs a')].filter((tab) => {
  const [row, { left, right }] = [tab.parentElement.getBoundingClientRect(), tab.getBoundingClientRect()]
  return left < Math.max(row.left, 0) || right > Math.min(row.right, innerWidth)
}).map((tab) => tab.textContent)`

/** A user with something on each tab. */
async function tabsOfUser(site: ConsoleSite): Promise<string[]> {
  const user = await makeUser(site, { user_metadata: { full_name: 'Ada Lovelace' } })
  await signedIn(site.app, user.email, { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' })
  await asAdmin(site.app, 'POST', '/admin/webhooks', { url: 'https://hooks.example.com' })
  const tabs = ['', '?tab=security', '?tab=sessions', '?tab=mail', '?tab=metadata', '?tab=activity']
  return tabs.map((tab) => `/users/${user.id}${tab}`)
}

/** An organization with something on each tab but two, and a deleted one. */
async function tabsOfOrganization(site: ConsoleSite): Promise<string[]> {
  const { id: owner } = await makeUser(site)
  const { id } = await makeOrganization(site, { name: 'Acme', owner_id: owner })
  const path = `/admin/organizations/${id}`
  await asAdmin(site.app, 'POST', `${path}/invitations`, { email: 'bob@elsewhere.example' })
  await asAdmin(site.app, 'POST', `${path}/domains`, { domain: 'acme.example' })
  const deleted = await makeOrganization(site, { name: 'Globex' })
  await asAdmin(site.app, 'DELETE', `/admin/organizations/${deleted.id}`)
  const names = ['', 'details', 'invitations', 'domains', 'connections', 'groups', 'audit']
  const tabs = names.map((tab) => `/organizations/${id}${tab && `?tab=${tab}`}`)
  return [...tabs, '/organizations?state=deleted']
}

/** Those of the navigation. */
async function pathsOf(page: Page): Promise<string[]> {
  const paths: unknown = await page.evaluate(
    `[...document.querySelectorAll('nav[aria-label=Console] a')]
      .map((link) => link.pathname.slice('/console'.length) || '/')`,
  )
  assert.ok(Array.isArray(paths) && paths.length > 5)
  return [...new Set(paths.map(String))]
}

/** Without loading the page again, which would sign the key out. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.locator('h1').waitFor()
  await page.waitForLoadState('networkidle')
  await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' })
}

async function look(page: Page, name: string): Promise<void> {
  if (folder) {
    mkdirSync(folder, { recursive: true })
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  }
  assert.equal(
    await page.evaluate('document.documentElement.scrollWidth > innerWidth'),
    false,
    'wider than the screen',
  )
  assert.deepEqual(await page.evaluate(clippedTabs), [], 'clipped tabs')
  assert.deepEqual(await findings(page), [])
}
