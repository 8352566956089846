/** Actions of users on the account page, in Chromium by role and label. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Page } from 'playwright-core'

import { accountPage } from '../support/account-pages.ts'
import { everyFactor, totpCode } from '../support/factors/factors.ts'
import { nextEmail } from '../support/messages/mail-journeys.ts'
import { codeIn } from '../support/messages/mail-links.ts'
import { createClient, oauthServer, signInClient } from '../support/oauth-server.ts'
import { newAddress, password, signIn, signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { openProvider, signInAt } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const everything = {
  ...oauthServer,
  ...everyFactor,
  ...accountPage,
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: 'localhost',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Test',
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
  AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
}

const saved = (page: Page) =>
  page.getByRole('status').filter({ hasText: 'Your change was saved.' }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
const follow = (page: Page, name: string) => page.getByRole('link', { name }).click()

suite('account page in a browser', { skip }, () => {
  test('lets a user change profile, email address and password, and see devices', async (t) => {
    const { app, page, mail } = await open(t)
    await follow(page, 'Profile')
    await page.getByLabel('Name').fill('Ann Example')
    await page.getByLabel('Language').selectOption('de')
    await press(page, 'Save')
    await saved(page)
    await follow(page, 'Back to your account')
    await page.getByText('Ann Example').waitFor()

    const wanted = newAddress()
    const since = mail.messages.length
    await follow(page, 'Email address')
    await page.getByLabel('New email address').fill(wanted)
    await press(page, 'Change')
    const code = codeIn(await nextEmail({ mail }, wanted, since))
    await page.getByLabel(`Code sent to ${wanted}`).fill(code)
    await press(page, 'Confirm')
    await saved(page)
    await page.getByText(wanted).waitFor()

    await follow(page, 'Password')
    await page.getByLabel('New password').fill(`new ${password}`)
    await press(page, 'Save')
    await page.getByText('Your password was changed.').waitFor()

    const phone = { 'user-agent': 'Shop/1.0 (iPhone)' }
    await signIn(app, { email: wanted, password: `new ${password}` }, phone)
    await follow(page, 'Back to your account')
    await follow(page, 'Devices')
    await page.getByText('This device').waitFor()
    await press(page, 'Sign out: Shop, iPhone')
    await saved(page)
    assert.equal(await page.getByText('Shop, iPhone').count(), 0)
  })

  test('lets a user add an authenticator app and recovery codes', async (t) => {
    const { page } = await open(t)
    await follow(page, 'Second factors')
    await page.getByText('Add an authenticator app').click()
    await press(page, 'Continue')
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code', { exact: true }).fill(totpCode(secret))
    await press(page, 'Confirm')
    await saved(page)
    await press(page, 'Create recovery codes')
    await page.getByText('They are not shown again').waitFor()
    assert.equal(await page.getByRole('listitem').count(), 10)
    await follow(page, 'Back to your account')
    await follow(page, 'Second factors Authenticator app')
    await page.getByText('Remove the recovery codes first.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Remove: Authenticator app' }).count(), 0)
    await press(page, 'Remove: Recovery codes')
    await saved(page)
    await press(page, 'Remove: Authenticator app')
    await page.getByText('You have no second factor.').waitFor()
  })

  test('lets a user add, rename and remove a passkey', async (t) => {
    const { page } = await open(t)
    await addAuthenticator(page, 'internal', true)
    await follow(page, 'Passkeys')
    await press(page, 'Add a passkey')
    await saved(page)
    await page.getByRole('textbox', { name: 'Name' }).fill('My laptop')
    await page.getByRole('button', { name: /^Rename/ }).click()
    await page.getByText('My laptop').first().waitFor()
    await press(page, 'Remove: My laptop')
    await page.getByText('You have no passkeys.').waitFor()
  })

  test('lets a user add a security key as a second factor', async (t) => {
    const { page } = await open(t)
    await addAuthenticator(page, 'usb', false)
    await follow(page, 'Second factors')
    await page.getByText('Add a security key').click()
    await page.locator('button[value=add_key]').click()
    await press(page, 'Continue')
    await saved(page)
    await page.getByRole('button', { name: 'Remove: Security key' }).waitFor()
  })

  test('lets a user remove an app, download the data and delete the account', async (t) => {
    const { app, page, user } = await open(t)
    const client = await createClient(app, { client_name: 'Calendar' })
    await signInClient(app, client, user, { scope: 'openid' })
    await follow(page, 'Connected apps')
    await press(page, 'Remove access: Calendar')
    await page.getByText('No apps are connected.').waitFor()
    await follow(page, 'Back to your account')
    await follow(page, 'Your data')
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')])
    assert.match(file.suggestedFilename(), /^account-\d{4}-\d\d-\d\d\.json$/)
    await follow(page, 'Delete your account')
    await page.getByLabel(`Enter ${user.email} to confirm`).fill(user.email)
    await press(page, 'Delete your account')
    await page.getByRole('heading', { name: 'Your account was deleted' }).waitFor()
  })
})

/** A new user, signed in at the account page. */
async function open(t: TestContext) {
  const { app, issuer, page, mail } = await openProvider(t, everything, 'localhost')
  const user = await signUpUser(app)
  await page.goto(`${issuer}/account`)
  await signInAt(page, user)
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  return { app, page, mail, user }
}

async function addAuthenticator(page: Page, transport: 'internal' | 'usb', isPasskey: boolean) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      automaticPresenceSimulation: true,
      hasResidentKey: isPasskey,
      hasUserVerification: isPasskey,
      isUserVerified: isPasskey,
    },
  })
}
