/** Browsers get a page for an invalid or malformed link; other clients get JSON. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, password } from '../../support/users.ts'

const browser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
}

suite('HTML error page', () => {
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    app = (await build(ending)).app
  })

  const links: [url: string, status: number, said: RegExp][] = [
    ['/verify', 400, /Verify requires a token/],
    ['/verify?token=x', 400, /Verify requires a verification type/],
    ['/nowhere', 404, /There is nothing at this path/],
    ['/authorize?provider=google', 400, /provider is not enabled/],
    ['/%zz', 400, /not percent-encoded/],
    ['/signup', 405, /It allows: POST/],
  ]
  for (const [url, status, output] of links) {
    test(`is served for ${url} with ${status}`, async () => {
      const { statusCode, headers, body } = await app.inject({ url, headers: browser })
      assert.equal(statusCode, status)
      assert.match(String(headers['content-type']), /^text\/html/)
      assert.match(String(headers['content-security-policy']), /default-src 'none'/)
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(body, output)
      assert.equal(headers.link, undefined)
      assert.ok(body.includes(String(headers['x-request-id'])))
    })
  }

  const languages: [accepted: string, url: string, page: string, said: string][] = [
    ['de-AT, en;q=0.5', '/verify', '<html lang="de" dir="ltr">', 'Das hat nicht funktioniert'],
    ['ja', '/nowhere', '<html lang="ja" dir="ltr">', 'このアドレスには何もありません'],
    ['ar', '/%zz', '<html lang="ar" dir="rtl">', 'لم ينجح ذلك'],
    ['hu', '/nowhere', '<html lang="en" dir="ltr">', 'Page not found'],
  ]
  for (const [accepted, url, page, output] of languages) {
    test(`is served for ${url} in the language of ${accepted}`, async () => {
      const requested = { ...browser, 'accept-language': accepted }
      const { headers, body } = await app.inject({ url, headers: requested })
      assert.ok(body.includes(page))
      assert.ok(body.includes(`<h1>${output}</h1>`), body)
      assert.match(body, /<small lang="en" dir="ltr">/)
      assert.match(String(headers.vary), /accept-language/i)
    })
  }

  test('reports an outage in the language of the browser', async (t) => {
    const { app, database } = await build(t, {
      env: {
        AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
        AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'an-id',
        AUTH_EXTERNAL_GITHUB_SECRET: 'a-secret',
        AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'http://localhost:9999/callback',
      },
    })
    await database.drop()
    const { statusCode, body } = await app.inject({
      url: '/authorize?provider=github',
      headers: { ...browser, 'accept-language': 'fr' },
    })
    assert.equal(statusCode, 503)
    assert.match(body, /<h1>Cela ne fonctionne pas pour le moment<\/h1>/)
  })

  test('is served for a form that a browser submits', async () => {
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url: '/nowhere',
      headers: browser,
    })
    assert.equal(statusCode, 404)
    assert.match(String(headers['content-type']), /^text\/html/)
  })

  const programs: Record<string, { method?: 'POST'; headers: Record<string, string> }> = {
    'a client that accepts */*': { headers: { accept: '*/*' } },
    'a client without an Accept header': { headers: {} },
    'a fetch by a page': { headers: { ...browser, 'sec-fetch-mode': 'cors' } },
    'a form of a program': { method: 'POST', headers: { accept: browser.accept } },
  }
  for (const [who, request] of Object.entries(programs)) {
    test(`is not served to ${who}`, async () => {
      const { headers, body } = await app.inject({ url: '/nowhere', ...request })
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(JSON.parse(body).error_code, 'not_found')
    })
  }

  test('links to the documentation of the error in development', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { dev: true, lines })
    const payload = { email: newAddress(), password }
    await app.inject({ method: 'POST', url: '/signup', payload })
    const url = '/token?grant_type=password'
    const rejected = await app.inject({ method: 'POST', url, payload })
    assert.equal(rejected.json().error_code, 'email_not_confirmed')
    const page = '/docs/guide/errors#email_not_confirmed'
    assert.equal(rejected.headers.link, `<${page}>; rel="help"`)
    assert.ok(lines.some((line) => line.includes(`"help":"${page}"`)))
    const { body } = await app.inject({ url: '/nowhere', headers: browser })
    assert.match(body, /<a href="\/docs\/guide\/errors#not_found">What to do<\/a>/)
  })

  test('escapes values from the request', async () => {
    const url = `/verify?token=${encodeURIComponent('<script>alert(1)</script>')}`
    const { body } = await app.inject({ url, headers: { ...browser, 'x-request-id': '<b>' } })
    assert.doesNotMatch(body, /<script|<b>/)
  })
})
