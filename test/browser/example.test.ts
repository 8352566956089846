/** The example page: every flow of a new user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'

import { executablePath } from './chromium.ts'
import { openDevSite } from './dev-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('example page', { skip }, () => {
  test('signs up, in and out by every method and changes each field of the user', {
    timeout: 600_000,
  }, async (t) => {
    const { page, url, local, message } = await openDevSite(t)
    const mistakes: string[] = []
    page.on('pageerror', ({ message }) => mistakes.push(message))
    const walk = walker(page)
    await device(page)

    // By a code.
    await page.goto(`${url}/dev/example`)
    assert.equal(page.url(), `${local}/dev/example/`)
    await walk.press('Sign up')
    await walk.type('Type the code', { Code: (await message('ann@example.com')).code })
    await walk.fact('E-mail', 'ann@example.com')
    assert.match(await walk.claims(), /"email": "ann@example.com"/)
    await page.getByText('POST /auth/v1/signup', { exact: true }).waitFor()
    assert.doesNotMatch(await calls(page), /correct horse/)

    // The user’s own data.
    await walk.type('Profile', { Name: 'Ann Ångström' })
    await walk.fact('Name', 'Ann Ångström')
    await walk.type('Password', { 'New password': 'wrong horse battery' })
    await walk.told('The password is changed. Other devices were signed out.')
    await page.getByText('This device, used').waitFor()

    // A second factor, a passkey, and both at the next sign-in.
    await walk.press('Add an authenticator app')
    await page.locator('#qr').waitFor()
    const app = new TOTP({ secret: Secret.fromBase32((await page.textContent('#secret')) ?? '') })
    assert.match((await page.getAttribute('#qr', 'src')) ?? '', /^data:image\/svg/)
    await page.locator('#enrolment').getByLabel('Code').fill(app.generate())
    await walk.press('Confirm')
    await walk.told('The authenticator app is confirmed.')
    await walk.fact('Level', 'aal2')
    await walk.press('Add a passkey')
    await walk.told('The passkey is added: sign out, and in again with it.')
    await walk.signOut()
    await walk.press('Passkey')
    // A code is accepted once: this is the next one.
    const next = app.generate({ timestamp: Date.now() + 30_000 })
    await walk.type('Second factor', { 'Code of the app': next })
    await walk.told('The second factor is verified.')
    await page.getByRole('button', { name: /^Remove: App/ }).click()
    await page.getByRole('button', { name: /^Remove: App/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Remove: Passkey/ }).click()
    await page.getByRole('button', { name: /^Remove: Passkey/ }).waitFor({ state: 'detached' })
    await walk.press('Refresh')
    await walk.told('The session has new tokens.')

    // By password: wrong, correct and forgotten.
    await walk.press('Sign out everywhere')
    await walk.told('Signed out.')
    await walk.press('Sign in')
    await page.getByRole('alert').getByText('(invalid_credentials)').waitFor()
    await page.locator('#signed-out').getByLabel('Password').fill('wrong horse battery')
    await walk.press('Sign in')
    await walk.fact('E-mail', 'ann@example.com')
    await walk.signOut()
    await walk.press('Forgot the password')
    await page.goto((await message('ann@example.com')).link)
    await walk.told('Choose a new password.')
    await walk.type('Password', { 'New password': 'correct horse battery' })
    await walk.told('The password is changed. Other devices were signed out.')
    await walk.signOut()

    // By a link, and by a link that was already used.
    await walk.press('Send it')
    const { link } = await message('bea@example.com')
    await page.goto(link)
    await walk.fact('E-mail', 'bea@example.com')
    await walk.signOut()
    await page.goto(link)
    await page.getByRole('alert').getByText('(otp_expired)').waitFor()

    // By phone.
    await walk.press('Text it')
    await walk.type('Type the code', { Code: (await message('+15550100')).code })
    await walk.fact('Phone', '+15550100')
    await walk.signOut()

    // As an anonymous user, who becomes permanent.
    await walk.press('Without an account')
    await walk.fact('Account', 'without an address')
    await walk.type('Keep this account', { 'E-mail': 'cyd@example.com' })
    await walk.type('Type the code', { Code: (await message('cyd@example.com')).code })
    await walk.fact('E-mail', 'cyd@example.com')
    await walk.signOut()

    // With an account of a provider, whose name has characters other than letters.
    // The first request to the provider loads code, which may exceed the time limit of requests on a busy machine.
    assert.ok((await fetch(`${url}/dev/oidc/.well-known/openid-configuration`)).ok)
    await walk.press('Provider “dev”')
    await page.getByLabel('Name or address').fill('Zoë Web')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await walk.fact('Signed in by', 'dev')
    await walk.fact('Name', 'Zoë Web')
    assert.deepEqual(mistakes, [])
  })
})

/** Actions of a user on the page. */
function walker(page: Page) {
  return {
    press: (name: string) => page.getByRole('button', { name, exact: true }).click(),

    /** Fills the form with this heading and sends it, by the keyboard alone. */
    async type(heading: string, fields: Record<string, string>) {
      const form = page
        .locator('form')
        .filter({ has: page.getByRole('heading', { name: heading }) })
      for (const [label, text] of Object.entries(fields)) {
        await form.getByLabel(label).fill(text)
        await form.getByLabel(label).press('Enter')
      }
    },

    /** The page shows when it has settled. */
    async signOut() {
      await this.press('Sign out')
      await this.told('Signed out.')
    },

    told: (text: string) => page.getByRole('status').getByText(text).waitFor(),

    /** Waits until the list about the user contains this. */
    fact: (name: string, expected: string) => {
      const term = page.locator('#user dt').getByText(name, { exact: true })
      const value = term.locator('xpath=following-sibling::dd[1]')
      return value.filter({ hasText: expected }).waitFor()
    },

    claims: async () => (await page.textContent('#claims')) ?? '',
  }
}

async function calls(page: Page): Promise<string> {
  return (await page.textContent('#calls')) ?? ''
}

/** An authenticator that stores passkeys and verifies its user. */
async function device(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ...{ transport: 'internal', hasResidentKey: true, automaticPresenceSimulation: true },
      ...{ hasUserVerification: true, isUserVerified: true },
    },
  })
}
