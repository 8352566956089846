/** The console of a real server in a real browser, with an owner, operators and users made over the API. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import type { BrowserContextOptions, Page } from 'playwright-core'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { adminOk } from '../../support/organizations/organizations.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { waitTimeoutMs } from '../../support/processes/until.ts'
import { type Built, build } from '../../support/server.ts'
import { adminToken, newAddress, password } from '../../support/users.ts'
import { openBrowser } from '../chromium.ts'

export interface ConsoleSite extends Built {
  url: string
  page: Page
  /** A page of another browser. */
  another(options?: BrowserContextOptions): Promise<Page>
}

/** Every feature with a page is enabled, and mail goes to a server of the test. */
const settings = {
  AUTH_CONSOLE_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true',
  AUTH_CUSTOM_OAUTH_ENABLED: 'true',
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_ORGANIZATIONS_ENABLED: 'true',
}

export async function openConsole(
  t: TestContext,
  env: Record<string, string> = {},
  lines: string[] = [],
): Promise<ConsoleSite> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const built = await build(t, { lines, env: { ...settings, AUTH_API_EXTERNAL_URL: url, ...env } })
  await built.app.listen({ host: '127.0.0.1', port })
  const browser = await openBrowser(t, {})
  const another = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ acceptDownloads: true, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(waitTimeoutMs / 2)
    return page
  }
  return { ...built, url, page: await another(), another }
}

/** A console in which a service key is signed in. */
export async function openSignedIn(t: TestContext, env: Record<string, string> = {}) {
  const site = await openConsole(t, env)
  await signInWithKey(site, site.page)
  return site
}

export async function signInWithKey(
  { app, url }: Pick<ConsoleSite, 'app' | 'url'>,
  page: Page,
): Promise<string> {
  const key = await adminToken(app)
  await page.goto(`${url}/console`)
  await page.getByText('Use a service key instead').click()
  await page.getByLabel('Service key').fill(key)
  await page.getByRole('button', { name: 'Sign in with the key' }).click()
  await page.locator('#content h1').waitFor()
  return key
}

/** A user with a password who is an admin of this role. */
export async function makeAdmin(
  { app }: Pick<ConsoleSite, 'app'>,
  role: 'owner' | 'operator' | 'support',
): Promise<User> {
  const user = await makeUser({ app }, { email: newAddress(role) })
  const made = await asAdmin(app, 'POST', '/admin/admins', { user_id: user.id, role })
  assert.equal(made.statusCode, 201, made.body)
  return user
}

export function makeUser({ app }: Pick<ConsoleSite, 'app'>, fields: object = {}): Promise<User> {
  const record = { email: newAddress(), password, email_confirm: true, ...fields }
  return adminCall(app, 'POST', '/admin/users', record)
}

export function makeOrganization(
  { app }: Pick<ConsoleSite, 'app'>,
  fields: { name: string; owner_id?: string },
): Promise<{ id: string; slug: string }> {
  return adminOk(app, 'POST /admin/organizations', fields)
}

/** Signs in at the hosted pages, from the console and back to it. */
export async function signInAtPages(page: Page, url: string, user: Pick<User, 'email'>) {
  await signInPages(page, url, user)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** The same, without waiting for the console. */
export async function signInPages(page: Page, url: string, { email }: Pick<User, 'email'>) {
  await page.goto(url)
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Follows a link of the navigation. */
export async function open(page: Page, title: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: title }).click()
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

/** A message of the console. */
export const message = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).first().waitFor()
