/** The account page in a browser without scripts. */
import assert from 'node:assert/strict'

import { totpCode } from './factors/factors.ts'
import { openBrowser, type PageResponse, titleIn } from './page-browser.ts'
import type { App } from './server.ts'
import { autoconfirm, password, signUpUser } from './users.ts'

export const accountPage = {
  ...autoconfirm,
  AUTH_ACCOUNT_PAGE_ENABLED: 'true',
  AUTH_SMTP_MAX_FREQUENCY: '0',
}

export type Browser = ReturnType<typeof openBrowser>

/** Signs in at /account by password. */
export async function accountBrowser(app: App, email: string): Promise<Browser> {
  const browser = openBrowser(app)
  const page = await browser.open('/account')
  assert.equal(titleIn(page), 'Sign in')
  await browser.submit(page, { email, password, action: 'password' })
  return browser
}

/** A new user, signed in at the account page. */
export async function accountUser(app: App) {
  const user = await signUpUser(app)
  return { ...user, browser: await accountBrowser(app, user.email) }
}

/** The success message of the page. */
export const doneIn = ({ html }: PageResponse): string | undefined =>
  /role="status">([^<]*)</.exec(html)?.[1]

/** Adds an authenticator app at the page; the session is at aal2 then. */
export async function addApp(browser: Browser, name = 'My app'): Promise<string> {
  const list = await browser.open('/account/factors')
  const scan = await browser.submit(list, { name, action: 'add_totp' })
  const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(scan.html)?.[1]?.replaceAll(' ', '') ?? ''
  const added = await browser.submit(scan, { code: totpCode(secret), action: 'verify' })
  assert.equal(doneIn(added), 'Your change was saved.', added.html)
  return secret
}

/** Makes the authentication of all sessions too old for a change. */
export async function makeStale(app: App, userId: string, seconds = 3600): Promise<void> {
  const before = new Date(Date.now() - seconds * 1000)
  const times = { created_at: before, refreshed_at: new Date() }
  const sessions = await app.db
    .updateTable('sessions')
    .set(times)
    .where('user_id', '=', userId)
    .returning('id')
    .execute()
  const ids = sessions.map(({ id }) => id)
  const claims = { created_at: before, updated_at: before }
  await app.db.updateTable('mfa_amr_claims').set(claims).where('session_id', 'in', ids).execute()
}
