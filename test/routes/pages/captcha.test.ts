/** The captcha of the hosted pages. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { suite, type TestContext, test } from 'node:test'

import { oauthServer } from '../../support/oauth-server.ts'
import { errorIn, openBrowser, titleIn } from '../../support/page-browser.ts'
import { serve } from '../../support/processes/listening.ts'
import { build } from '../../support/server.ts'
import { newAddress, password } from '../../support/users.ts'

/** The verification endpoint of a captcha provider, which accepts the token `solved`. */
async function startVendor(t: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: form.get('response') === 'solved' }))
  })
  return `http://127.0.0.1:${await serve(t, server)}/siteverify`
}

async function open(t: TestContext, provider: 'hcaptcha' | 'turnstile') {
  const { app } = await build(t, {
    dev: true,
    env: {
      ...oauthServer,
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: provider,
      AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
      AUTH_SECURITY_CAPTCHA_SITE_KEY: 'key-of-the-site',
      AUTH_SECURITY_CAPTCHA_URL: await startVendor(t),
    },
  })
  return { app, browser: openBrowser(app) }
}

suite('captcha of the pages', () => {
  for (const [provider, field, host] of [
    ['hcaptcha', 'h-captcha-response', 'hcaptcha.com'],
    ['turnstile', 'cf-turnstile-response', 'challenges.cloudflare.com'],
  ] as const) {
    test(`shows ${provider} and requires it for accounts, passwords, codes and recovery`, async (t) => {
      const { browser } = await open(t, provider)
      const email = newAddress()
      const create = await browser.open('/sign-in/create')
      assert.match(create.html, /data-sitekey="key-of-the-site"/)
      const policy = String(create.headers['content-security-policy'])
      assert.match(policy, new RegExp(`script-src [^;]*https://${host}`))
      assert.match(policy, new RegExp(`frame-src [^;]*https://${host}`))
      const without = await browser.submit(create, { email, password })
      assert.equal(errorIn(without), 'Confirm that you are not a robot, and try again.')
      const wrong = await browser.submit(create, { email, password, [field]: 'wrong' })
      assert.equal(errorIn(wrong), 'Confirm that you are not a robot, and try again.')
      const solved = { [field]: 'solved' }
      const created = await browser.submit(create, { email, password, ...solved })
      assert.equal(errorIn(created), undefined)

      const signIn = await browser.open('/sign-in')
      const attempt = { email, password, action: 'password' }
      assert.ok(errorIn(await browser.submit(signIn, attempt)))
      assert.equal(errorIn(await browser.submit(signIn, { ...attempt, ...solved })), undefined)
      const again = await browser.open('/sign-in')
      const code = await browser.submit(again, { email, action: 'code', ...solved })
      assert.equal(titleIn(code), 'Enter the code')
      const recover = await browser.open('/sign-in/recover')
      assert.ok(errorIn(await browser.submit(recover, { email })))
      const sent = await browser.submit(recover, { email, ...solved })
      assert.equal(titleIn(sent), 'Check your email')
    })
  }

  test('does not allow the captcha origin on pages without a captcha', async (t) => {
    const { browser } = await open(t, 'turnstile')
    const { headers } = await browser.open('/oauth/consent?authorization_id=x')
    assert.ok(!String(headers['content-security-policy']).includes('challenges'))
  })
})
