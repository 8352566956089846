/**
 * Every page of the console on a phone and on a desktop, light and dark: nothing is wider than the screen, axe finds nothing
 * serious, no error is thrown. With SCREENSHOTS=FOLDER, pictures to look at.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import type { Page } from 'playwright-core'

import { executablePath } from '../chromium.ts'
import { findings, settled } from '../page-checks.ts'
import { openConsole, signInWithKey } from './console-site.ts'
import { fillConsole, readPaths } from './looks-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const folder = process.env.SCREENSHOTS

const screens = [360, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

suite('pages of the console', { skip }, () => {
  for (const { width, scheme } of screens) {
    const name = `${width}-${scheme}`
    test(`fit ${width} px in ${scheme} without errors or serious accessibility issues`, async (t) => {
      const site = await openConsole(t)
      const { paths, dialogs } = await fillConsole(site)
      const page = await site.another({ viewport: { width, height: 800 }, colorScheme: scheme })
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(message))
      await page.goto(`${site.url}/console`)
      await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
      await look(page, `sign-in-${name}`)
      await signInWithKey(site, page)
      for (const path of [...(await readPaths(page)), ...paths]) {
        await t.test(path, async () => {
          await go(page, path)
          await look(page, `${path.replaceAll(/[^a-z]+/gi, '-')}-${name}`)
        })
      }
      for (const { name: title, path, open } of dialogs) {
        await t.test(title, async () => {
          await go(page, path)
          await open(page)
          await page.getByRole('dialog').waitFor()
          await settled(page)
          await look(page, `dialog-${title.replaceAll(/[^a-z]+/gi, '-')}-${name}`)
          await page.keyboard.press('Escape')
        })
      }
      assert.deepEqual(errors, [])
    })
  }

  test('can be used with the keyboard alone', async (t) => {
    const site = await openConsole(t)
    await signInWithKey(site, site.page)
    const { page } = site
    await go(page, '/users')
    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
    await page.locator('#content:focus').waitFor()
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

/** Buttons whose name is the same in every row, in the page. */
const namelessButtons = `[...document.querySelectorAll('tbody button:not([aria-label])')]
  .map((button) => button.textContent)`

/** Without reloading the page, which would sign out. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.locator('h1').waitFor()
  await settled(page)
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
  assert.deepEqual(await page.evaluate(namelessButtons), [], 'buttons of rows that name no row')
  assert.deepEqual(await findings(page), [])
}
