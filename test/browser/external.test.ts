/** External sign-in as a user does it: in a browser, through the login and the consent of a real OpenID provider. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Page } from 'playwright-core'

import { providerEnv } from '../support/external.ts'
import { freePort } from '../support/processes/free-port.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { client } from '../support/providers/fake-provider.ts'
import { type ProviderVariant, startOpenidProvider } from '../support/providers/openid-provider.ts'
import { build } from '../support/server.ts'
import { executablePath, openBrowser } from './chromium.ts'
import { startSite } from './site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const variants: Record<string, ProviderVariant> = {
  google: {},
  keycloak: {
    paths: {
      '/protocol/openid-connect/auth': '/auth',
      '/protocol/openid-connect/token': '/token',
      '/protocol/openid-connect/userinfo': '/me',
    },
  },
  azure: {
    issuer: '/v2.0',
    paths: { '/oauth2/v2.0/authorize': '/auth', '/oauth2/v2.0/token': '/token' },
  },
  // Apple always signs in by OpenID Connect, and posts a form.
  apple: {
    paths: { '/auth/authorize': '/auth', '/auth/token': '/token' },
    scope: 'openid email profile',
    pkce: false,
    secretInBody: true,
  },
  linkedin_oidc: {
    paths: { '/v2/authorization': '/auth', '/v2/accessToken': '/token' },
    pkce: false,
  },
  slack_oidc: {
    paths: {
      '/openid/connect/authorize': '/auth',
      '/api/openid.connect.token': '/token',
      '/api/openid.connect.userInfo': '/me',
    },
    pkce: false,
    claims: { 'https://slack.com/user_id': 'ann', 'https://slack.com/team_id': 'T1', ok: true },
  },
}

suite('external sign-in in a browser', { skip }, () => {
  for (const [name, variant] of Object.entries(variants)) {
    test(`${name}: returns a session in the fragment, and a code to a PKCE client`, async (t) => {
      const { origin } = await startOpenidProvider(t, { claimsInIdToken: true, variant })
      await signInTwice(t, name, providerEnv(name, origin))
    })
  }

  test('generic OpenID provider: returns a session in the fragment, and a code to a PKCE client', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: false })
    await signInTwice(t, 'acme', {
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: client.id,
      AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
    })
  })

  for (const prefix of ['', '/auth/v1']) {
    test(`development provider below "${prefix}": returns a session in the fragment, and a code to a PKCE client`, async (t) => {
      const port = await freePort()
      const env = { AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}${prefix}` }
      await signInTwice(t, 'dev', env, port)
    })
  }

  test('shows an error when the user declines', async (t) => {
    const { origin } = await startOpenidProvider(t, { claimsInIdToken: true })
    const { page, auth, site } = await open(t, providerEnv('google', origin))
    await page.goto(`${auth}/authorize?provider=google`)
    await page.getByText('[ Cancel ]').click()
    await page.waitForURL(`${site}/**`)
    const url = new URL(page.url())
    assert.equal(url.searchParams.get('error'), 'access_denied')
    assert.equal(new URLSearchParams(url.hash.slice(1)).get('error'), 'access_denied')
  })
})

async function signInTwice(
  t: TestContext,
  name: string,
  env: Record<string, string>,
  port?: number,
) {
  const { page, auth, site } = await open(t, env, port)
  await page.goto(`${auth}/authorize?provider=${name}`)
  await signIn(page, name === 'dev' ? 'ann@ex.test' : 'ann')
  await page.waitForURL(`${site}/**`)
  assert.equal(await shown(page), `ann@ex.test by ${name}`)

  await page.goto(`${site}/start?provider=${name}`)
  await page.waitForURL(/interaction|login|localhost.*code=/)
  // The user is signed in at the provider, which may still ask for consent; the development provider always does.
  if (name === 'dev') await signIn(page, 'ann@ex.test')
  else if (page.url().includes('interaction')) await page.click('button[type=submit]')
  await page.waitForURL(`${site}/**`)
  assert.equal(await shown(page), 'ann@ex.test by code')
}

async function open(t: TestContext, env: Record<string, string>, port = 0) {
  const site = await startSite(t)
  const settings = { AUTH_SITE_URL: site.url, ...env }
  const { app } = await build(t, { dev: true, env: settings })
  const address = new URL(await app.listen({ host: '127.0.0.1', port }))
  site.state.auth = port === 0 ? 'http://app.test' : address.origin
  const browser = await openBrowser(t, { 'app.test': address.host })
  const page = await browser.newPage()
  page.setDefaultTimeout(waitTimeoutMs)
  return { page, auth: site.state.auth, site: site.url }
}

async function signIn(page: Page, login: string) {
  if (page.url().includes('/dev/oidc/')) {
    await page.getByLabel('Name or address').fill(login)
    return page.getByRole('button', { name: 'Sign in' }).click()
  }
  await page.fill('input[name=login]', login)
  await page.fill('input[name=password]', 'anything')
  await page.click('button[type=submit]')
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' })
  await page.click('button[type=submit]')
}

async function shown(page: Page): Promise<string> {
  await page.waitForSelector('#who:not(:empty)')
  return (await page.textContent('#who')) ?? ''
}
