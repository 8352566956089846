/** A provider on a real port, and a user with a browser in front of its pages. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

import type { Page } from 'playwright-core'

import { oauthServer } from '../support/oauth-server.ts'
import { freePort } from '../support/processes/free-port.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { type Built, build } from '../support/server.ts'
import { password, type signUpUser } from '../support/users.ts'
import { openBrowser } from './chromium.ts'
import { findings, tooWide } from './page-checks.ts'

export interface Provider extends Built {
  issuer: string
  page: Page
}

/** The server with its pages, and a page of Chromium. */
export async function openProvider(
  t: TestContext,
  env: Record<string, string> = {},
  host = '127.0.0.1',
): Promise<Provider> {
  const port = await freePort()
  const issuer = `http://${host}:${port}`
  const isKeyHost = env.AUTH_WEBAUTHN_RP_ID === host
  const own = {
    AUTH_API_EXTERNAL_URL: issuer,
    ...(isKeyHost && { AUTH_WEBAUTHN_RP_ORIGINS: issuer }),
  }
  const built = await build(t, { env: { ...oauthServer, ...env, ...own } })
  await built.app.listen({ host: '127.0.0.1', port })
  const page = await (await openBrowser(t, {})).newPage()
  page.setDefaultTimeout(waitTimeoutMs)
  return { ...built, issuer, page }
}

export type Account = Awaited<ReturnType<typeof signUpUser>>

/** Types address and password into the sign-in page that is open. */
export async function signInAt(page: Page, { email }: Pick<Account, 'email'>): Promise<void> {
  await page.locator('#email').fill(email)
  await page.locator('#password').fill(password)
  await page.locator('button[value=password]').click()
}

/** Approves the request on the open consent page. */
export async function approveAt(page: Page): Promise<void> {
  await page.locator('button[value=approve]').click()
}

export interface Screen {
  width: number
  scheme: 'light' | 'dark'
}

/** A phone and a desk, each in light and in dark. */
export const screens: readonly Screen[] = [360, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

/**
 * Opens a page on the screen. `look`, called where a page is shown: nothing is wider than the screen, nothing serious for
 * axe. With SCREENSHOTS=FOLDER it takes a picture to look at, whose name begins with `prefix`.
 */
export async function openScreen(
  provider: Provider,
  { width, scheme }: Screen,
  prefix = '',
): Promise<{ page: Page; look: (name: string) => Promise<void> }> {
  const options = { viewport: { width, height: 800 }, colorScheme: scheme, bypassCSP: true }
  const browser = provider.page.context().browser()
  const page = await browser?.newContext(options).then((context) => context.newPage())
  assert.ok(page)
  const folder = process.env.SCREENSHOTS
  const look = async (name: string) => {
    if (folder) {
      mkdirSync(folder, { recursive: true })
      const path = join(folder, `${prefix}${name}-${width}-${scheme}.png`)
      await page.screenshot({ path, fullPage: true })
    }
    assert.deepEqual(await tooWide(page), [], name)
    assert.deepEqual(await findings(page), [], name)
  }
  return { page, look }
}
