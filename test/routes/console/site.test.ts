/** The page and the files of the console, as served. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'

const on = { AUTH_CONSOLE_ENABLED: 'true' }

suite('console site', () => {
  const server = sharedServers()

  test('returns 404 while the console is disabled', async () => {
    const { app } = await server()
    for (const url of ['/console', '/console/users', '/console/assets/main.js']) {
      assert.equal((await app.inject(url)).statusCode, 404, url)
    }
    const preview = await app.inject({ method: 'POST', url: '/console/preview' })
    assert.equal(preview.statusCode, 404)
  })

  test('serves one uncached page for every path below /console', async () => {
    const { app } = await server(on)
    const start = await app.inject('/console')
    const inner = await app.inject('/console/users/123?tab=audit')
    assert.equal(start.statusCode, 200)
    assert.equal(start.headers['cache-control'], 'no-store')
    assert.equal(inner.body, start.body)
  })

  test('has the theme of its cookie, if it is one', async () => {
    const { app } = await server(on)
    const themes: [cookie: string, theme: string | undefined][] = [
      ['a=b; postern-console-theme=dark', 'dark'],
      ['postern-console-theme=light; postern-console-theme=dark', 'light'],
      ['postern-console-theme=darkest', undefined],
      ['x-postern-console-theme=dark', undefined],
    ]
    for (const [cookie, theme] of themes) {
      const { body } = await app.inject({ url: '/console', headers: { cookie } })
      assert.equal(/ data-theme="(\w+)"/.exec(body)?.[1], theme, cookie)
    }
  })

  test('allows scripts, styles and requests of this server only, and forbids framing', async () => {
    const { app } = await server(on)
    const { headers, body } = await app.inject('/console')
    const policy = String(headers['content-security-policy'])
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), part)
    }
    assert.doesNotMatch(policy, /unsafe|https?:/)
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.doesNotMatch(body, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:/)
  })

  test('serves files with hashed names, cacheable for a year', async () => {
    const { app } = await server(on)
    const urls = await listFiles(app)
    assert.equal(urls.length, 2)
    for (const url of urls) {
      assert.match(url, /-[A-Z0-9]{8}\.(js|css)$/)
      const { statusCode, headers } = await app.inject(url)
      assert.equal(statusCode, 200)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    }
  })

  test('returns 404 for a path and for a condition that no file meets', async () => {
    const { app } = await server(on)
    for (const path of ['', '%00', 'main%00.js', '%5c..%5c..%5cpackage.json', '.env']) {
      assert.equal((await app.inject(`/console/assets/${path}`)).statusCode, 404, path)
    }
    const [url = ''] = await listFiles(app)
    const conditions: Record<string, string>[] = [
      { range: 'bytes=99999999-' },
      { 'if-match': '"x"' },
      { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
    ]
    for (const headers of conditions) {
      const { statusCode } = await app.inject({ url, headers })
      assert.equal(statusCode, 404, Object.keys(headers).join())
    }
  })

  test('links its files below the path of AUTH_API_EXTERNAL_URL', async () => {
    const env = { ...on, AUTH_API_EXTERNAL_URL: 'https://example.com/auth/v1' }
    const { app } = await server(env)
    const { body } = await app.inject('/auth/v1/console')
    assert.match(body, /data-base="\/auth\/v1"/)
    assert.match(body, /src="\/auth\/v1\/console\/assets\/main-/)
  })
})

suite('email previews', () => {
  const server = sharedServers()

  async function preview(headers: Record<string, string>) {
    const { app } = await server(on)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = new URLSearchParams({ html: '<p>Hello</p>' }).toString()
    const url = '/console/preview'
    return app.inject({ method: 'POST', url, headers: { ...type, ...headers }, payload })
  }

  const sent = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe' }

  test('shows HTML in an opaque origin without scripts', async () => {
    const response = await preview(sent)
    assert.equal(response.statusCode, 200)
    assert.equal(response.body, '<p>Hello</p>')
    const policy = String(response.headers['content-security-policy'])
    assert.match(policy, /^sandbox; default-src 'none'/)
    assert.doesNotMatch(policy, /script|allow-/)
  })

  for (const [why, headers] of Object.entries({
    'of another site': { ...sent, 'sec-fetch-site': 'cross-site' },
    'as a document': { ...sent, 'sec-fetch-dest': 'document' },
    'of a client without Sec-Fetch headers': {},
  })) {
    test(`rejects HTML ${why}`, async () => {
      assert.equal((await preview(headers)).statusCode, 400)
    })
  }
})

async function listFiles(app: App): Promise<string[]> {
  const { body } = await app.inject('/console')
  return [...body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, url = '']) => url)
}
