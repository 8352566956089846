/**
 * Every page that development serves, on a phone and on a desk, in light and in dark: nothing wider than the screen,
 * nothing serious for axe, no mistake in the console. With SCREENSHOTS=FOLDER, pictures to look at.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import type { Page } from 'playwright-core'

import { executablePath } from './chromium.ts'
import { type DevSite, openDevSite } from './dev-site.ts'
import { findings, tooWide } from './page-checks.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const folder = process.env.SCREENSHOTS

interface Shown {
  path: string
  /** Actions of a user that create the content of the page. */
  prepare?: (page: Page, site: DevSite) => Promise<void>
}

const pages: Record<string, Shown> = {
  landing: { path: '/dev' },
  'signed-in-empty': { path: '/dev/signed-in' },
  'signed-in': {
    path: '/dev/signed-in',
    async prepare(page, { url, message }) {
      const email = `shown-${crypto.randomUUID()}@example.com`
      await send(url, '/signup', { email, password: 'correct horse' })
      await page.goto((await message(email)).link)
      await page.getByRole('heading', { name: 'is signed in' }).waitFor()
    },
  },
  example: { path: '/dev/example' },
  'example-signed-in': { path: '/dev/example', prepare: signInOnExample },
  inbox: { path: '/dev/inbox' },
  'inbox-message': {
    path: '/dev/inbox',
    async prepare(page) {
      await page.locator('#messages a').first().click()
      await page.locator('.proofs').waitFor()
    },
  },
  'mail-templates': { path: '/dev/mail-templates' },
  guide: { path: '/docs/guide' },
  'guide-page': { path: '/docs/guide/mfa' },
  'guide-checklist': { path: '/docs/guide/operations' },
  'guide-search': {
    path: '/docs/guide/sessions',
    async prepare(page) {
      await page.getByRole('searchbox').fill('second factor')
      await page.getByRole('heading', { name: 'Found for' }).waitFor()
    },
  },
  reference: {
    path: '/docs',
    prepare: (page) => page.locator('.opblock').first().waitFor(),
  },
  'reference-open': {
    path: '/docs',
    async prepare(page) {
      await page.locator('#operations-auth-postSignup .opblock-summary-control').click()
      await page.locator('#operations-auth-postSignup .responses-table').waitFor()
    },
  },
  error: { path: '/verify?token=x' },
  'dev-provider': {
    path: '/authorize?provider=dev',
    prepare: (page) => page.getByLabel('Name or address').waitFor(),
  },
}

const screens = [360, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

suite('pages of development', { skip }, () => {
  for (const { width, scheme } of screens) {
    test(`fit ${width} px in ${scheme} without errors or serious accessibility issues`, async (t) => {
      const site = await openDevSite(t)
      await send(site.url, '/signup', { email: 'ann@example.com', password: 'correct horse' })
      await site.message('ann@example.com')
      const page = await site.another({ viewport: { width, height: 800 }, colorScheme: scheme })
      for (const [name, shown] of Object.entries(pages)) {
        await t.test(name, (t) =>
          look(t, page, site, { name: `${name}-${width}-${scheme}`, shown }),
        )
      }
    })
  }
})

async function look(
  t: TestContext,
  page: Page,
  site: DevSite,
  { name, shown }: { name: string; shown: Shown },
): Promise<void> {
  const mistakes: string[] = []
  const note = ({ message }: Error) => mistakes.push(message)
  page.on('pageerror', note)
  t.after(async () => void page.off('pageerror', note))
  await page.goto(site.url + shown.path)
  await shown.prepare?.(page, site)
  await page.waitForLoadState('networkidle')
  if (folder) {
    mkdirSync(folder, { recursive: true })
    const width = page.viewportSize()?.width ?? 0
    const clip = { x: 0, y: 0, width, height: 1600 }
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip })
  }
  assert.deepEqual(await tooWide(page), [])
  assert.deepEqual(await findings(page), [])
  assert.deepEqual(mistakes, [])
}

async function signInOnExample(page: Page, { message }: DevSite) {
  if (await page.locator('#signed-in').isVisible()) return
  const email = `example-${crypto.randomUUID()}@example.com`
  await page.locator('form[data-action=signIn]').getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Sign up', exact: true }).click()
  await page
    .locator('#code')
    .getByLabel('Code')
    .fill((await message(email)).code)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('This device, used').waitFor()
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  await page.locator('#qr').waitFor()
}

async function send(url: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(answer.status, 200)
}
