/**
 * By DNS rebinding, a site can resolve its name to 127.0.0.1, and the browser then treats this server as part of that
 * site. Pages of development, and the emails in them, are served under known host names only.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'

const env = {
  AUTH_API_HOST: 'bound.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example:8081',
  AUTH_SITE_URL: 'http://site.example:3000/welcome',
  AUTH_MAILER_EXTERNAL_HOSTS: 'Postern,other.example:9000',
  AUTH_URI_ALLOW_LIST: 'https://app.example/**',
}

suite('development pages: host check', () => {
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    app = (await build(ending, { dev: true, env })).app
  })

  const ours = [
    'localhost',
    'localhost:8081',
    'LOCALHOST',
    'tenant.localhost:8081',
    '127.0.0.1:8081',
    '127.8.8.8',
    '[::1]:8081',
    '0.0.0.0:8081',
    '192.168.1.20:8081',
    '[fd00::7]:8081',
    'auth.example',
    'auth.example:1',
    'site.example',
    'bound.example',
    'postern:8081',
    'other.example',
  ]
  for (const host of ours) {
    test(`accepts ${host}`, async () => {
      const { statusCode } = await app.inject({ url: '/dev/messages', headers: { host } })
      assert.equal(statusCode, 200)
    })
  }

  const attackers = [
    'evil.example',
    'evil.example:8081',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    'app.example',
    'auth.example.evil.example',
    'a b',
  ]
  for (const host of attackers) {
    test(`rejects "${host}" with an explanation`, async () => {
      const response = await app.inject({ url: '/dev/messages', headers: { host } })
      assert.equal(response.statusCode, 403)
      const { error_code, msg } = response.json()
      assert.equal(error_code, 'unknown_host')
      assert.match(msg, /localhost.*AUTH_API_EXTERNAL_URL.*AUTH_MAILER_EXTERNAL_HOSTS/)
    })
  }

  const paths = [
    '/dev',
    '/dev/inbox',
    '/dev/messages',
    '/auth/v1/dev/messages',
    '/dev/events',
    '/dev/dev.css',
    '/dev/signed-in',
    '/dev/example',
    '/dev/mail-templates',
    '/docs',
    '/docs/guide',
    '/dev/oidc/.well-known/openid-configuration',
    '/dev/oidc/login/x',
  ]
  for (const url of paths) {
    test(`${url} rejects unknown hosts`, async () => {
      const { statusCode } = await app.inject({ url, headers: { host: 'evil.example' } })
      assert.equal(statusCode, 403)
    })
  }

  test('ignores forwarded host headers', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'localhost',
      forwarded: 'host=localhost',
    }
    const { statusCode } = await app.inject({ url: '/dev/messages', headers })
    assert.equal(statusCode, 403)
  })

  test('does not check the host of API requests', async () => {
    const { statusCode } = await app.inject({ url: '/settings', headers: { host: 'evil.example' } })
    assert.equal(statusCode, 200)
  })

  test('does not check the host outside development', async (t) => {
    const { app } = await build(t)
    const headers = { host: 'evil.example' }
    assert.equal((await app.inject({ url: '/dev/messages', headers })).statusCode, 404)
    assert.equal((await app.inject({ url: '/health', headers })).statusCode, 200)
  })

  // To addresses without TLS that are not the own machine's, browsers send an Origin and no Sec-Fetch-Site.
  const origins: Record<string, number> = {
    'http://evil.example': 403,
    'http://203.0.113.7': 403,
    null: 403,
    'http://192.168.1.20:8081': 200,
    'http://localhost:3000': 200,
    'http://site.example:3000': 200,
  }
  for (const [origin, status] of Object.entries(origins)) {
    test(`returns ${status} for a request from ${origin}`, async () => {
      const headers = { host: '192.168.1.20:8081', origin }
      const { statusCode } = await app.inject({ url: '/dev/messages', headers })
      assert.equal(statusCode, status)
    })
  }
})
