/** Whoever opens a dead or malformed link in a browser reads a page; programs read JSON as ever. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../support/ending.ts'
import { newAddress, password } from '../support/people.ts'
import { type App, build } from '../support/server.ts'

const browser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
}

suite('errors in a browser', () => {
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
  for (const [url, status, said] of links) {
    test(`${url} is a page with ${status}`, async () => {
      const { statusCode, headers, body } = await app.inject({ url, headers: browser })
      assert.equal(statusCode, status)
      assert.match(String(headers['content-type']), /^text\/html/)
      assert.match(String(headers['content-security-policy']), /default-src 'none'/)
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(body, said)
      assert.equal(headers.link, undefined)
      assert.ok(body.includes(String(headers['x-request-id'])))
    })
  }

  const languages: [accepted: string, url: string, page: string, said: string][] = [
    ['de-AT, en;q=0.5', '/verify', '<html lang="de" dir="ltr">', 'Das hat nicht funktioniert'],
    ['ja', '/nowhere', '<html lang="ja" dir="ltr">', 'このアドレスには何もありません'],
    ['ar', '/%zz', '<html lang="ar" dir="rtl">', 'لم ينجح ذلك'],
    ['hu', '/nowhere', '<html lang="en" dir="ltr">', 'There is nothing at this address'],
  ]
  for (const [accepted, url, page, said] of languages) {
    test(`${url} is a page for a reader of ${accepted}`, async () => {
      const asked = { ...browser, 'accept-language': accepted }
      const { headers, body } = await app.inject({ url, headers: asked })
      assert.ok(body.includes(page))
      assert.ok(body.includes(`<h1>${said}</h1>`), body)
      assert.match(body, /<small lang="en" dir="ltr">/)
      assert.match(String(headers.vary), /accept-language/i)
    })
  }

  test('what cannot be done at the moment is said in the language of the reader', async (t) => {
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

  const programs: Record<string, { method?: 'POST'; headers: Record<string, string> }> = {
    'a client that takes anything': { headers: { accept: '*/*' } },
    'a client that says nothing': { headers: {} },
    'a fetch of a page': { headers: { ...browser, 'sec-fetch-mode': 'cors' } },
    'a form': { method: 'POST', headers: browser },
  }
  for (const [who, request] of Object.entries(programs)) {
    test(`${who} is answered in JSON`, async () => {
      const { headers, body } = await app.inject({ url: '/nowhere', ...request })
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(JSON.parse(body).error_code, 'not_found')
    })
  }

  test('in development an error leads to the page that explains it', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { dev: true, lines })
    const payload = { email: newAddress(), password }
    await app.inject({ method: 'POST', url: '/signup', payload })
    const url = '/token?grant_type=password'
    const refused = await app.inject({ method: 'POST', url, payload })
    assert.equal(refused.json().error_code, 'email_not_confirmed')
    const page = '/docs/guide/errors#email_not_confirmed'
    assert.equal(refused.headers.link, `<${page}>; rel="help"`)
    assert.ok(lines.some((line) => line.includes(`"help":"${page}"`)))
    const { body } = await app.inject({ url: '/nowhere', headers: browser })
    assert.match(body, /<a href="\/docs\/guide\/errors#not_found">What to do<\/a>/)
  })

  test('what comes with the address stays text', async () => {
    const url = `/verify?token=${encodeURIComponent('<script>alert(1)</script>')}`
    const { body } = await app.inject({ url, headers: { ...browser, 'x-request-id': '<b>' } })
    assert.doesNotMatch(body, /<script|<b>/)
  })
})
