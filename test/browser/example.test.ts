/** The example page: every flow of a new user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'

import { executablePath } from './chromium.ts'
import { openDevSite } from './dev-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('example page', { skip }, () => {
  test('signs up, in and out by every method and changes each field of the user', async (t) => {
    const { page, url, local, message } = await openDevSite(t)
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    const user = actionsOn(page)
    await device(page)

    // By a code.
    await page.goto(`${url}/dev/example`)
    assert.equal(page.url(), `${local}/dev/example/`)
    await user.press('Sign up')
    await user.type('Enter the code', { Code: (await message('ann@example.com')).code })
    await user.waitForFact('Email', 'ann@example.com')
    assert.match(await user.claims(), /"email": "ann@example.com"/)
    await page.getByText('POST /auth/v1/signup', { exact: true }).waitFor()
    assert.doesNotMatch(await calls(page), /correct horse/)

    // The user’s own data.
    await user.type('Profile', { Name: 'Ann Ångström' })
    await user.waitForFact('Name', 'Ann Ångström')
    await user.type('Password', { 'New password': 'wrong horse battery' })
    await user.waitForStatus('The password is changed. Other devices were signed out.')
    await page.getByText('This device, used').waitFor()

    // A second factor, a passkey, and both at the next sign-in.
    await user.press('Add an authenticator app')
    await page.locator('#qr').waitFor()
    const app = new TOTP({ secret: Secret.fromBase32((await page.textContent('#secret')) ?? '') })
    assert.match((await page.getAttribute('#qr', 'src')) ?? '', /^data:image\/svg/)
    await page.locator('#enrolment').getByLabel('Code').fill(app.generate())
    await user.press('Confirm')
    await user.waitForStatus('The authenticator app is confirmed.')
    await user.waitForFact('Level', 'aal2')
    await user.press('Add a passkey')
    await user.waitForStatus('The passkey was added. Sign out, then sign in with it.')
    await user.signOut()
    await user.press('Passkey')
    // A code is accepted once: this is the next one.
    const next = app.generate({ timestamp: Date.now() + 30_000 })
    await user.type('Second factor', { 'Code from the app': next })
    await user.waitForStatus('The second factor is verified.')
    await page.getByRole('button', { name: /^Remove: App/ }).click()
    await page.getByRole('button', { name: /^Remove: App/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Remove: Passkey/ }).click()
    await page.getByRole('button', { name: /^Remove: Passkey/ }).waitFor({ state: 'detached' })
    await user.press('Refresh')
    await user.waitForStatus('The session has new tokens.')

    // By password: wrong, correct and forgotten.
    await user.press('Sign out everywhere')
    await user.waitForStatus('Signed out.')
    await user.press('Sign in')
    await page.getByRole('alert').getByText('(invalid_credentials)').waitFor()
    await page.locator('#signed-out').getByLabel('Password').fill('wrong horse battery')
    await user.press('Sign in')
    await user.waitForFact('Email', 'ann@example.com')
    await user.signOut()
    await user.press('Forgot password?')
    await page.goto((await message('ann@example.com')).link)
    await user.waitForStatus('Choose a new password.')
    await user.type('Password', { 'New password': 'correct horse battery' })
    await user.waitForStatus('The password is changed. Other devices were signed out.')
    await user.signOut()

    // By a link, and by a link that was already used.
    await user.press('Send email')
    const { link } = await message('bea@example.com')
    await page.goto(link)
    await user.waitForFact('Email', 'bea@example.com')
    await user.signOut()
    await page.goto(link)
    await page.getByRole('alert').getByText('(otp_expired)').waitFor()

    // By phone.
    await user.press('Send SMS')
    await user.type('Enter the code', { Code: (await message('+15550100')).code })
    await user.waitForFact('Phone', '+15550100')
    await user.signOut()

    // As an anonymous user, who becomes permanent.
    await user.press('Anonymous user')
    await user.waitForFact('Account', 'anonymous')
    await user.type('Keep this account', { Email: 'cyd@example.com' })
    await user.type('Enter the code', { Code: (await message('cyd@example.com')).code })
    await user.waitForFact('Email', 'cyd@example.com')
    await user.signOut()

    // With an account of a provider, whose name has characters other than letters.
    // The first request to the provider loads code, which may exceed the time limit of requests on a busy machine.
    assert.ok((await fetch(`${url}/dev/oidc/.well-known/openid-configuration`)).ok)
    await user.press('Provider “dev”')
    await page.getByLabel('Name or address').fill('Zoë Web')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await user.waitForFact('Sign-in methods', 'dev')
    await user.waitForFact('Name', 'Zoë Web')
    assert.deepEqual(errors, [])
  })
})

/** Actions of a user on the page. */
function actionsOn(page: Page) {
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
      await this.waitForStatus('Signed out.')
    },

    waitForStatus: (text: string) => page.getByRole('status').getByText(text).waitFor(),

    /** Waits until the list about the user contains this. */
    waitForFact: (name: string, expected: string) => {
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
      transport: 'internal',
      hasResidentKey: true,
      automaticPresenceSimulation: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
}
