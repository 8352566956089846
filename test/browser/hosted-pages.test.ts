/**
 * Every hosted page on a phone and on a desk, in light and in dark: nothing wider than the screen, nothing serious for axe.
 * With SCREENSHOTS=FOLDER, pictures to look at.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, type TestContext, test } from 'node:test'

import type { Page } from 'playwright-core'

import { everyFactor, userWithTotp } from '../support/factors/factors.ts'
import { createClient, makePkce, postForm, registerClient } from '../support/oauth-server.ts'
import { authorizeUrl } from '../support/page-browser.ts'
import { serve } from '../support/processes/listening.ts'
import { signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import {
  approveAt,
  openProvider,
  openScreen,
  type Provider,
  screens,
  signInAt,
} from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

suite('hosted pages in a browser', { skip }, () => {
  for (const screen of screens) {
    const { width, scheme } = screen
    test(`fit ${width} px in ${scheme} without serious accessibility issues`, async (t) => {
      const provider = await openProvider(t, {
        ...everyFactor,
        AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
      })
      const { page, look } = await openScreen(provider, screen)
      await walkAllPages(provider, page, look)
    })
  }

  test('cannot be framed by another site, whose forms are rejected', async (t) => {
    const { app, issuer, page } = await openProvider(t)
    const client = await createClient(app)
    const url = `${issuer}${authorizeUrl(client, makePkce().challenge)}`
    await page.goto(url)
    await signInAt(page, await signUpUser(app))
    await page.locator('button[value=approve]').waitFor()
    const form = `<form method="post" action="${issuer}/oauth/consent"><input name="action" value="approve"><button>win</button></form>`
    const site = await startSite(t, `<iframe src="${url}"></iframe>${form}`)
    await page.goto(site)
    const frame = page.frames().find((each) => each !== page.mainFrame())
    assert.ok(frame)
    assert.equal(await frame.locator('button[value=approve]').count(), 0)
    await page.getByRole('button', { name: 'win' }).click()
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
    await page.goto(url)
    await page.locator('button[value=approve]').waitFor()
  })
})

/** Opens one page after the other, in the order of a user. */
async function walkAllPages(
  { app, issuer }: Provider,
  page: Page,
  look: (name: string) => Promise<void>,
): Promise<void> {
  const client = await createClient(app)
  const self = await registerClient(app, { policy_uri: 'https://app.example/policy' })
  const { email } = await signUpUser(app)
  const url = (of: typeof client, more = {}) =>
    `${issuer}${authorizeUrl(of, makePkce().challenge, more)}`
  const scope = 'openid profile email phone address offline_access'

  await page.goto(url(client))
  await look('sign-in')
  await page.locator('#email').fill(email)
  await page.locator('#password').fill('wrong')
  await submit(page, 'button[value=password]')
  await look('sign-in-error')
  for (const name of ['create', 'recover']) {
    await page.goto(`${issuer}/sign-in/${name}`)
    await look(name)
  }
  await page.locator('#email').fill(email)
  await submit(page, 'main button')
  await look('message')
  await page.goto(`${issuer}/sign-in`)
  await page.locator('#email').fill(email)
  await submit(page, 'button[value=code]')
  await look('code')
  await page.goto(url(self, { scope: 'x' }))
  await look('rejected-request')
  await page.goto(url(client, { scope }))
  await signInAt(page, { email })
  await page.locator('button[value=approve]').waitFor()
  await look('consent')
  await page.goto(url(self, { scope }))
  await look('consent-unverified')
  await page.goto(`${issuer}/oauth/consent?authorization_id=x`)
  await look('error')
  await page.goto(`${issuer}/sign-in/password`)
  await look('password')
  const television = await createClient(app, {
    client_name: 'Television',
    token_endpoint_auth_method: 'none',
    grant_types: [deviceGrant],
  })
  const asked = { client_id: television.client_id, scope: 'openid' }
  const { user_code } = (await postForm(app, '/oauth/device_authorization', asked)).json()
  await page.goto(`${issuer}/oauth/device?user_code=${user_code}`)
  await look('device')
  await submit(page, 'button[value=look_up]')
  await look('device-consent')
  await approveAt(page)
  await page.getByRole('heading', { name: 'Your device is connected' }).waitFor()
  await look('device-connected')
  await page.goto(`${issuer}/oauth/logout`)
  await look('sign-out')
  await submit(page, 'main button')
  await look('signed-out')
  const { email: guardedEmail } = await userWithTotp(app)
  await page.goto(url(client))
  await signInAt(page, { email: guardedEmail })
  await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  await look('factor')
}

/** Clicks a button of a form and waits until the next page has loaded: a click returns before that. */
async function submit(page: Page, button: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.locator(button).click()])
}

async function startSite(t: TestContext, html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  return `http://localhost:${await serve(t, server)}`
}
