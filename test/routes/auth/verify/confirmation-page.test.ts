/** Scanners, previews and prefetching browsers that open a link do not consume it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  emailAfter,
  emailedPath,
  pkcePair,
  redirectParams,
} from '../../../support/messages/mail-journeys.ts'
import { linkIn } from '../../../support/messages/mail-links.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { call } from '../../../support/requests.ts'
import type { Built } from '../../../support/server.ts'
import { newAddress } from '../../../support/users.ts'

const confirming = { AUTH_MAILER_LINK_CONFIRMATION: 'true' }

/** The path of a new sign-in link. */
async function newLink(server: Built, fields: object = {}, query = ''): Promise<string> {
  const email = newAddress()
  const send = () => call(server.app, `/otp${query}`, { email, ...fields })
  return emailedPath(linkIn(await emailAfter(server, email, send)))
}

/** The form of the page as a browser parses it. */
function formIn(html: string) {
  const action = /<form method="post" action="([^"]*)">/.exec(html)?.[1]
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  const fields = new URLSearchParams()
  for (const [, name = '', value = ''] of inputs) fields.set(unescaped(name), unescaped(value))
  return { action, fields }
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

const withoutToken = (html: string) => html.replace(/(?<=name="form_token" value=")[^"]*/, '')

function press({ app }: Built, html: string, cookie = '') {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie }
  const payload = formIn(html).fields.toString()
  return app.inject({ method: 'POST', url: '/verify', headers, payload })
}

suite('GET /verify: prefetching', () => {
  const servers = sharedServers()

  const looks: { what: string; method: 'GET' | 'HEAD'; headers: Record<string, string> }[] = [
    { what: 'HEAD', method: 'HEAD', headers: {} },
    { what: 'a prefetch', method: 'GET', headers: { 'sec-purpose': 'prefetch' } },
    { what: 'a prerender', method: 'GET', headers: { 'sec-purpose': 'prefetch;prerender' } },
    { what: 'a legacy prefetch', method: 'GET', headers: { purpose: 'prefetch' } },
    { what: 'a Mozilla prefetch', method: 'GET', headers: { 'x-moz': 'prefetch' } },
    { what: 'a preview', method: 'GET', headers: { 'x-purpose': 'preview' } },
  ]
  for (const { what, method, headers } of looks) {
    test(`${what} does not consume the link`, async () => {
      const server = await servers()
      const url = await newLink(server)
      const response = await server.app.inject({ method, url, headers })
      assert.equal(response.statusCode, 200)
      assert.match(String(response.headers['content-type']), /^text\/html/)
      assert.equal(response.headers['cache-control'], 'no-store')
      assert.ok(redirectParams(await server.app.inject(url)).fragment.access_token)
    })
  }

  test('serves a prefetching browser a page whose button confirms', async () => {
    const server = await servers()
    const headers = { 'sec-purpose': 'prefetch' }
    const { body } = await server.app.inject({ url: await newLink(server), headers })
    assert.ok(redirectParams(await press(server, body)).fragment.access_token)
  })
})

suite('GET /verify: confirmation page', () => {
  const servers = sharedServers()

  test('shows the page repeatedly and signs in once', async () => {
    const server = await servers(confirming)
    const url = await newLink(server)
    const { body } = await server.app.inject(url)
    for (let look = 0; look < 12; look++) {
      const again = (await server.app.inject(url)).body
      assert.equal(withoutToken(again), withoutToken(body))
    }
    const { site, fragment } = redirectParams(await press(server, body))
    assert.equal(site, 'http://app.example/')
    assert.ok(fragment.access_token)
    assert.equal(redirectParams(await press(server, body)).fragment.error_code, 'otp_expired')
    assert.equal(redirectParams(await server.app.inject(url)).fragment.error_code, 'otp_expired')
  })

  test('answers a second click and a reload as the first click, to the same browser only', async () => {
    const server = await servers(confirming)
    const page = await server.app.inject(await newLink(server))
    const [cookie] = String(page.headers['set-cookie']).split(';', 1)
    const click = () => press(server, page.body, cookie)
    const [first, second] = await Promise.all([click(), click()])
    const reloaded = await click()
    const session = redirectParams(first)
    assert.ok(session.fragment.access_token)
    for (const again of [second, reloaded]) {
      assert.equal(again.statusCode, first.statusCode)
      assert.deepEqual(redirectParams(again), session)
      assert.equal(again.headers['referrer-policy'], 'no-referrer')
    }
    for (const other of ['', `postern-session=${'x'.repeat(43)}`]) {
      const elsewhere = await press(server, page.body, other)
      assert.equal(redirectParams(elsewhere).fragment.error_code, 'otp_expired')
    }
  })

  test('keeps the cookie of a browser that has one', async () => {
    const server = await servers(confirming)
    const url = await newLink(server)
    const cookie = `postern-session=${'x'.repeat(43)}`
    const page = await server.app.inject({ url, headers: { cookie } })
    assert.equal(page.headers['set-cookie'], undefined)
    const click = async () => redirectParams(await press(server, page.body, cookie))
    assert.deepEqual(await click(), await click())
  })

  test('redirects a PKCE client with a code', async () => {
    const server = await servers(confirming)
    const { body } = await server.app.inject(await newLink(server, pkcePair().fields))
    const { query, fragment } = redirectParams(await press(server, body))
    assert.ok(query.code)
    assert.deepEqual(fragment, {})
  })

  test('keeps the stored redirect_to', async () => {
    const server = await servers(confirming)
    const target = 'http://app.example/in?a="><script>&b=1'
    const query = `?redirect_to=${encodeURIComponent(target)}`
    const { body } = await server.app.inject(await newLink(server, {}, query))
    assert.doesNotMatch(body, /<script/)
    const { fields } = formIn(body)
    assert.equal(new URL(fields.get('redirect_to') ?? '').pathname, '/in')
    fields.set('redirect_to', 'https://evil.example/')
    const response = await server.app.inject({
      method: 'POST',
      url: '/verify',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: fields.toString(),
    })
    assert.equal(redirectParams(response).site, 'http://app.example/')
  })

  test('runs no script, forbids framing and sends no referrer', async () => {
    const server = await servers(confirming)
    const { body, headers } = await server.app.inject(await newLink(server))
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|form-action/)
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(formIn(body).action, '?', 'the form goes where the page came from')
    assert.doesNotMatch(body, /<script|src=|https?:\/\/(?!app\.example)/)
  })

  for (const type of ['signup', 'invite', 'recovery', 'magiclink', 'email_change', 'email']) {
    test(`does not show the page for an invalid link of type ${type}`, async () => {
      const { app } = await servers(confirming)
      const response = await app.inject(`/verify?token=${'0'.repeat(64)}&type=${type}`)
      assert.equal(redirectParams(response).fragment.error_code, 'otp_expired')
    })
  }

  test('does not show the page for a link of another type', async () => {
    const server = await servers(confirming)
    const url = (await newLink(server)).replace('type=signup', 'type=recovery')
    assert.equal(redirectParams(await server.app.inject(url)).fragment.error_code, 'otp_expired')
  })

  test('is not required for POST /verify', async () => {
    const server = await servers(confirming)
    const token_hash = new URL(await newLink(server), 'http://x').searchParams.get('token')
    const response = await call(server.app, '/verify', { type: 'signup', token_hash })
    assert.equal(response.statusCode, 200, response.body)
  })
})
