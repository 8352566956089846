/** The sign-in page, with passwords. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient, makePkce, oauthServer } from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  openBrowser,
  refreshIn,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { password, signUpUser } from '../../support/users.ts'

suite('sign-in page', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  test('redirects to AUTH_SITE_URL after a sign-in without a requested page', async () => {
    const app = await server()
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const done = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(refreshIn(done.html), app.config.AUTH_SITE_URL)
  })

  test('shows the same error for a wrong password and an unknown account', async () => {
    const app = await server()
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const wrong = await browser.submit(page, { email, password: 'wrong', action: 'password' })
    const unknown = await browser.submit(page, {
      email: 'nobody@example.com',
      password: 'wrong',
      action: 'password',
    })
    assert.equal(errorIn(wrong), 'The email address or the password is wrong.')
    assert.equal(errorIn(unknown), errorIn(wrong))
  })

  test('lists the page session among the sessions of the user, and ends with it', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const browser = await signedInBrowser(app, user.email)
    const headers = { authorization: `Bearer ${user.access_token}` }
    const list = (await app.inject({ url: '/sessions', headers })).json().sessions
    assert.equal(list.length, 2)
    const other = list.find(({ current }: { current: boolean }) => !current)
    await app.inject({ method: 'DELETE', url: `/sessions/${other.id}`, headers })
    const client = await createClient(app)
    assert.equal(titleIn(await browser.open(authorizeUrl(client, makePkce().challenge))), 'Sign in')
  })

  test('creates an account and continues to consent', async () => {
    const app = await server()
    const client = await createClient(app)
    const browser = openBrowser(app)
    const page = await browser.open(
      authorizeUrl(client, makePkce().challenge, { prompt: 'create' }),
    )
    assert.equal(titleIn(page), 'Create an account')
    const weak = await browser.submit(page, { email: 'new@example.com', password: 'x' })
    assert.match(errorIn(weak) ?? '', /^Choose another password/)
    const consent = await browser.submit(page, { email: 'new@example.com', password })
    assert.equal(titleIn(consent), 'App requests access to your account')
  })

  test('uses the language of the browser', async () => {
    const app = await server()
    const titles: Record<string, string> = {
      ar: 'تسجيل الدخول',
      de: 'Anmelden',
      es: 'Iniciar sesión',
      fr: 'Se connecter',
      ja: 'ログイン',
      'pt-BR': 'Entrar',
      'zh-Hans': '登录',
    }
    for (const [language, title] of Object.entries(titles)) {
      const page = await openBrowser(app, { 'accept-language': language }).open('/sign-in')
      assert.equal(titleIn(page), title)
      assert.ok(page.html.includes(`lang="${language}"`))
    }
  })
})
