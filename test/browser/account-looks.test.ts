/**
 * Every page of the account on a phone and on a desk, in light and in dark: nothing wider than the screen, nothing serious
 * for axe. With SCREENSHOTS=FOLDER, pictures to look at.
 */
import { suite, test } from 'node:test'

import type { Page } from 'playwright-core'

import { accountPage } from '../support/account-pages.ts'
import { providerEnv } from '../support/external.ts'
import { everyFactor, totpCode } from '../support/factors/factors.ts'
import { createClient, oauthServer, signInClient } from '../support/oauth-server.ts'
import { changeUser } from '../support/requests.ts'
import { newAddress, password, signedIn, signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { openProvider, openScreen, type Provider, screens, signInAt } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const everything = {
  ...oauthServer,
  ...everyFactor,
  ...accountPage,
  ...providerEnv('github', 'http://127.0.0.1:9'),
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
}

suite('account pages in a browser', { skip }, () => {
  for (const screen of screens) {
    const { width, scheme } = screen
    test(`fit ${width} px in ${scheme} without serious accessibility issues`, async (t) => {
      const provider = await openProvider(t, everything)
      const { page, look } = await openScreen(provider, screen, 'account-')
      await walkAllPages(provider, page, look)
    })
  }
})

async function walkAllPages(
  { app, issuer }: Provider,
  page: Page,
  look: (name: string) => Promise<void>,
): Promise<void> {
  const user = await signUpUser(app)
  await changeUser(app, user.access_token, { data: { name: 'Ann Example' } })
  const client = await createClient(app, { client_name: 'Calendar' })
  await signInClient(app, client, user, { scope: 'openid email offline_access' })
  const agent =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/1 Safari/604.1'
  await signedIn(app, user.email, { 'user-agent': agent })
  await page.goto(`${issuer}/account`)
  await signInAt(page, user)
  await page.getByRole('heading', { name: 'Your account' }).waitFor()

  await page.goto(`${issuer}/account/factors`)
  await look('factors-none')
  await page.getByText('Add an authenticator app').click()
  await look('factors-open')
  await page.locator('button[value=add_totp]').click()
  await page.getByRole('img').waitFor()
  await look('totp')
  const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret))
  await page.locator('button[value=verify]').click()
  await page.getByRole('status').waitFor()
  await look('factors')
  await page.locator('button[value=make_codes]').click()
  await page.getByText('They are not shown again').waitFor()
  await look('recovery-codes')

  // Where a password change needs the current password, a change of the address does as well.
  await page.goto(`${issuer}/account/email`)
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
  await look('confirm')
  await page.getByLabel('Current password').fill(password)
  await page.locator('button[value=password]').click()
  await page.locator('#email').fill(newAddress())
  await page.locator('button[value=change]').click()
  await page.locator('button[value=verify]').first().waitFor()
  await look('email-pending')
  await page.goto(`${issuer}/account/password`)
  await page.locator('#password').fill('x')
  await page.locator('button[value=change]').click()
  await page.getByRole('alert').waitFor()
  await look('password-error')

  for (const name of [
    'profile',
    'username',
    'phone',
    'passkeys',
    'devices',
    'linked',
    'apps',
    'data',
    'delete',
  ]) {
    await page.goto(`${issuer}/account/${name}`)
    await look(name)
  }
  await page.goto(`${issuer}/account`)
  await look('overview')
}
