/** A provider on a real port, and a user with a browser in front of its pages. */
import type { TestContext } from 'node:test'

import type { Page } from 'playwright-core'

import { oauthServer } from '../support/oauth-server.ts'
import { freePort } from '../support/processes/free-port.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { type Built, build } from '../support/server.ts'
import { password, type signUpUser } from '../support/users.ts'
import { openBrowser } from './chromium.ts'

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
