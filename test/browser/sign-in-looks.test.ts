/**
 * The sign-in page with every way to sign in, each reason of a return, and the pages around an emailed link, on a phone
 * and on a desk: nothing wider than the screen, nothing serious for axe. With SCREENSHOTS=FOLDER, pictures to look at.
 */
import { suite, test } from 'node:test'

import type { Page } from 'playwright-core'

import { accountPage } from '../support/account-pages.ts'
import { providerEnv } from '../support/external.ts'
import { everyFactor } from '../support/factors/factors.ts'
import { emailAfter } from '../support/messages/mail-journeys.ts'
import { linkIn } from '../support/messages/mail-links.ts'
import { call } from '../support/requests.ts'
import { samlOn } from '../support/saml/server.ts'
import { newAddress } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { openProvider, openScreen, type Provider, type Screen } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const everything = {
  ...everyFactor,
  ...accountPage,
  ...samlOn,
  ...providerEnv('github', 'http://127.0.0.1:9'),
  ...providerEnv('google', 'http://127.0.0.1:9'),
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SMS_AUTOCONFIRM: 'true',
  AUTH_MAILER_LINK_CONFIRMATION: 'true',
}

const reasons = [
  'cancelled',
  'provider_failed',
  'unverified_at_provider',
  'sign_up_disabled',
  'link_used',
  'opened_elsewhere',
  'took_too_long',
  'recent_sign_in',
  'too_new',
  'sso_unavailable',
  'banned',
  'too_many',
  'failed',
]

suite('sign-in page with everything', { skip }, () => {
  const screens: Screen[] = [
    { width: 360, scheme: 'light' },
    { width: 1280, scheme: 'dark' },
  ]
  for (const screen of screens) {
    const { width, scheme } = screen
    test(`fits ${width} px in ${scheme} without serious accessibility issues`, async (t) => {
      const provider = await openProvider(t, everything)
      const { page, look } = await openScreen(provider, screen)
      await walk(provider, page, look)
    })
  }
})

async function walk(
  provider: Provider,
  page: Page,
  look: (name: string) => Promise<void>,
): Promise<void> {
  const { issuer, app } = provider
  for (const reason of reasons) {
    await page.goto(`${issuer}/sign-in?reason=${reason}`)
    await page.locator('.note').waitFor()
    await look(`reason-${reason}`)
  }
  await page.goto(`${issuer}/sign-in`)
  await page.getByText('Use a phone number').click()
  await look('sign-in-open')
  await page.locator('#email').fill('ann@unknown.example')
  await page.locator('button[value=sso]').click()
  await page.getByRole('alert').waitFor()
  await look('sso-unknown')
  const email = newAddress()
  const message = await emailAfter(provider, email, () => call(app, '/otp', { email }))
  await page.goto(linkIn(message))
  await look('confirmation')
  for (const path of ['/verify?token=x', '/nowhere', '/sessions/end?token=x']) {
    await page.goto(issuer + path)
    await look(`error-${path.replaceAll(/[^a-z]+/g, '-')}`)
  }
  await page.setContent(
    `<form method="post" action="${issuer}/sso"><input name="domain" value="x.example"><button>Go</button></form>`,
  )
  await page.getByRole('button').click()
  await page.getByRole('heading', { name: 'sign-in is not available' }).waitFor()
  await look('error-sso')
}
