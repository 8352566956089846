/** oauth2-proxy, built from its Go module, signs a user in through the hosted pages, in Chromium. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { executablePath } from '../../browser/chromium.ts'
import { approveAt, openProvider, signInAt } from '../../browser/hosted-pages.ts'
import { createClient } from '../../support/oauth-server.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { serve } from '../../support/processes/listening.ts'
import { until } from '../../support/processes/until.ts'
import { adminCreatedUser, newAddress, password, signUpUser } from '../../support/users.ts'
import { missing, startProgram } from '../programs.ts'

const version = 'v7.15.6'
/** Kept between runs: the first build takes minutes. */
const folder = join(tmpdir(), `postern-oauth2-proxy-${version}`)

const skip =
  missing('go') || (executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)')

suite('oauth2-proxy', { skip }, () => {
  test('signs a user with a verified address in, passes their claims on, and refreshes', async (t) => {
    const program = install()
    const { app, issuer, page } = await openProvider(t)
    const [port, upstream] = [await freePort(), await startUpstream(t)]
    const site = `http://127.0.0.1:${port}`
    const client = await createClient(app, { redirect_uris: [`${site}/oauth2/callback`] })
    const options = {
      provider: 'oidc',
      'oidc-issuer-url': issuer,
      'client-id': client.client_id,
      'client-secret': client.client_secret ?? '',
      'redirect-url': `${site}/oauth2/callback`,
      scope: 'openid email profile',
      'code-challenge-method': 'S256',
      'email-domain': '*',
      'cookie-secret': randomBytes(16).toString('hex'),
      'cookie-secure': 'false',
      // Every later request is due for a refresh.
      'cookie-refresh': '1s',
      'skip-provider-button': 'true',
      'pass-access-token': 'true',
      upstream,
      'http-address': `127.0.0.1:${port}`,
      'request-logging': 'false',
      'auth-logging': 'false',
      'standard-logging': 'false',
    }
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    await startProgram(t, program, args, port)
    const unverified = await signUpUser(app)
    await page.goto(`${site}/`)
    await signInAt(page, unverified)
    await approveAt(page)
    await page.waitForURL(`${site}/oauth2/callback*`)
    assert.match((await page.locator('body').textContent()) ?? '', /Forbidden/)
    assert.equal(await page.locator('#headers').count(), 0)
    await page.context().clearCookies()

    const email = newAddress()
    const account = await adminCreatedUser(app, { email, password, email_confirm: true })
    await page.goto(`${site}/`)
    await signInAt(page, { email })
    await approveAt(page)
    await page.locator('#headers').waitFor()
    const first = await shownHeaders()
    assert.equal(first['x-forwarded-email'], email)
    assert.equal(first['x-forwarded-user'], account.id)
    const token = 'x-forwarded-access-token'
    const second = await until(async () => {
      await page.reload()
      const headers = await shownHeaders()
      return headers[token] !== first[token] && headers
    })
    assert.equal(second['x-forwarded-user'], account.id)

    async function shownHeaders(): Promise<Record<string, string>> {
      return JSON.parse((await page.locator('#headers').textContent()) ?? '{}')
    }
  })
})

/** The program, built once on this machine. */
function install(): string {
  const module = `github.com/oauth2-proxy/oauth2-proxy/v7@${version}`
  const env = { ...process.env, GOBIN: folder }
  execFileSync('go', ['install', module], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return join(folder, 'oauth2-proxy')
}

/** Shows the headers that reach it. */
async function startUpstream(t: TestContext): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<pre id="headers">${JSON.stringify(headers)}</pre>`)
  })
  return `http://127.0.0.1:${await serve(t, server)}`
}
