/** `redirect_to` over HTTP: its sources, their precedence and rejected values. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  emailAfter,
  emailedPath,
  pkcePair,
  redirectParams,
} from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { sharedServers, shareServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { newAddress } from '../../support/users.ts'

const site = 'http://app.example'
const a = `${site}/a`
const b = `${site}/b`
const evil = 'https://evil.example/take'

suite('redirect_to: precedence and validation', () => {
  const server = sharedServers()

  const cases: {
    what: string
    query?: string
    body?: string
    headers?: Record<string, string>
    expected: string
  }[] = [
    { what: 'uses the site URL by default', expected: site },
    { what: 'uses the query', query: a, expected: a },
    {
      what: 'prefers the header over the query',
      query: a,
      headers: { redirect_to: b },
      expected: b,
    },
    { what: 'ignores the JSON body', body: a, expected: site },
    { what: 'falls back to an allowed Referer', headers: { referer: b }, expected: b },
    { what: 'ignores a Referer that is not allowed', headers: { referer: evil }, expected: site },
    { what: 'replaces a disallowed URL by the site URL', query: evil, expected: site },
    {
      what: 'replaces a disallowed URL by the Referer',
      query: evil,
      headers: { referer: b },
      expected: b,
    },
    { what: 'replaces a relative URL by the site URL', query: '/a', expected: site },
    { what: 'treats an empty value as missing', query: '', expected: site },
    {
      what: 'keeps the query and fragment of the URL',
      query: `${a}?x=1&y=ü#z`,
      expected: `${a}?x=1&y=%C3%BC#z`,
    },
    {
      what: 'percent-encodes non-ASCII paths',
      query: `${site}/日本`,
      expected: `${site}/%E6%97%A5%E6%9C%AC`,
    },
  ]
  for (const { what, query, body, headers = {}, expected } of cases) {
    test(what, async () => {
      const { app, ...rest } = await server()
      const email = newAddress()
      const url = query === undefined ? '' : `?redirect_to=${encodeURIComponent(query)}`
      const payload = { email, ...(body && { redirect_to: body }) }
      const message = await emailAfter({ ...rest }, email, () =>
        call(app, `/otp${url}`, payload, { headers }),
      )
      const link = linkIn(message)
      assert.equal(new URL(link).searchParams.get('redirect_to'), expected)
      const location = String((await app.inject(emailedPath(link))).headers.location)
      assert.equal(location.split('#')[0], expected.split('#')[0])
    })
  }

  test('replaces a disallowed redirect_to added to the emailed link by the site URL', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const message = await emailAfter({ mail }, email, () => call(app, '/otp', { email }))
    const link = new URL(linkIn(message))
    link.searchParams.set('redirect_to', evil)
    assert.equal(redirectParams(await app.inject(emailedPath(link.href))).site, `${site}/`)
  })

  test('uses the first redirect_to of a link with two', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const requested = `/otp?redirect_to=${a}`
    const message = await emailAfter({ mail }, email, () => call(app, requested, { email }))
    const opened = await app.inject(
      `${emailedPath(linkIn(message))}&redirect_to=${b}&type=recovery`,
    )
    const { site: at, fragment } = redirectParams(opened)
    assert.equal(at, a)
    assert.ok(fragment.access_token)
  })

  test('does not report a disallowed redirect_to to the client and logs it once with the allow list', async (t) => {
    const lines: string[] = []
    const env = { AUTH_URI_ALLOW_LIST: 'https://*.good.com/**' }
    const { app } = await build(t, { env, lines })
    const response = await app.inject(
      `/verify?token=x&type=signup&redirect_to=${encodeURIComponent(evil)}`,
    )
    assert.equal(redirectParams(response).site, `${site}/`)
    const rejections = lines.filter((line) => line.includes(evil) && line.includes('rejected'))
    assert.equal(rejections.length, 1)
    const line = JSON.parse(rejections[0] ?? '{}')
    assert.equal(line.redirect_to, evil)
    assert.equal(line.siteUrl, site)
    assert.deepEqual(line.allowList, ['https://*.good.com/**'])
  })

  const lines: string[] = []
  const logging = shareServers((ending) => build(ending, { lines }))
  for (const path of ['/signup', '/otp', '/magiclink', '/recover', '/resend']) {
    test(`${path} logs a disallowed redirect_to once`, async () => {
      const { app } = await logging()
      lines.length = 0
      const payload = { email: newAddress(), password: 'correct horse', type: 'signup' }
      const url = `${path}?redirect_to=${encodeURIComponent(evil)}`
      assert.equal((await call(app, url, payload)).statusCode, 200)
      assert.equal(lines.filter((line) => line.includes('redirect_to rejected')).length, 1)
    })
  }
})

suite('GET /verify: errors', () => {
  const server = sharedServers()
  const expired = {
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  }
  const unsupported = {
    error: 'invalid_request',
    error_code: 'validation_failed',
    error_description: 'Unsupported verification type',
  }

  const links: { what: string; token: string; type: string; inQuery: boolean }[] = [
    {
      what: 'redirects an invalid implicit link with the error',
      token: 'a'.repeat(64),
      type: 'signup',
      inQuery: false,
    },
    {
      what: 'redirects an invalid PKCE link with the error',
      token: `pkce_${'a'.repeat(64)}`,
      type: 'signup',
      inQuery: true,
    },
    {
      what: 'redirects a link of unknown type with the error',
      token: 'a'.repeat(64),
      type: 'toString',
      inQuery: false,
    },
    {
      what: 'redirects a PKCE link of unknown type with the error',
      token: 'pkce_x',
      type: '__proto__',
      inQuery: true,
    },
    {
      what: 'redirects a link of an SMS type with the error',
      token: 'a'.repeat(64),
      type: 'sms',
      inQuery: false,
    },
  ]
  for (const { what, token, type, inQuery } of links) {
    test(what, async () => {
      const { app } = await server()
      const response = await app.inject(`/verify?token=${token}&type=${type}&redirect_to=${a}`)
      const { site: at, query, fragment } = redirectParams(response)
      const expected = type === 'signup' ? expired : unsupported
      assert.equal(at, a)
      assert.deepEqual(fragment, expected)
      assert.deepEqual(query, inQuery ? expected : {})
      const description = expected.error_description.replaceAll(' ', '+')
      assert.ok(response.headers.location?.includes(`error_description=${description}`))
    })
  }

  test('returns flow_state_not_found for a PKCE link without its flow state', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const body = { email, ...pkcePair().fields }
    const message = await emailAfter({ mail }, email, () => call(app, '/otp', body))
    await app.db.deleteFrom('flow_state').execute()
    const { query } = redirectParams(await app.inject(emailedPath(linkIn(message))))
    assert.equal(query.error, 'invalid_request')
    assert.equal(query.error_code, 'flow_state_not_found')
  })

  for (const query of ['', '?type=signup', '?token=abc', '?token=&type=signup']) {
    test(`returns 400 JSON for ${query || 'no parameters'}`, async () => {
      const { app } = await server()
      const response = await app.inject(`/verify${query}`)
      assert.equal(response.statusCode, 400)
      assert.equal(response.json().error_code, 'validation_failed')
    })
  }
})

suite('host of email links', () => {
  const server = sharedServers()
  const env = { AUTH_MAILER_EXTERNAL_HOSTS: 'auth.other.example,localhost' }

  const cases: { headers: Record<string, string>; expected: string }[] = [
    { headers: {}, expected: 'http://auth.example' },
    { headers: { 'x-forwarded-host': 'evil.example' }, expected: 'http://auth.example' },
    { headers: { host: 'evil.example' }, expected: 'http://auth.example' },
    { headers: { forwarded: 'host=evil.example' }, expected: 'http://auth.example' },
    {
      headers: { 'x-forwarded-host': 'auth.other.example' },
      expected: 'https://auth.other.example',
    },
    {
      headers: { 'x-forwarded-host': 'AUTH.other.example' },
      expected: 'https://auth.other.example',
    },
    { headers: { 'x-forwarded-host': 'auth.other.example:81' }, expected: 'http://auth.example' },
    {
      headers: { 'x-forwarded-host': 'auth.other.example.evil.example' },
      expected: 'http://auth.example',
    },
    {
      headers: { 'x-forwarded-host': 'auth.other.example/@evil' },
      expected: 'http://auth.example',
    },
    { headers: { 'x-forwarded-host': 'x@auth.other.example' }, expected: 'http://auth.example' },
    {
      headers: { 'x-forwarded-host': 'auth.other.example', 'x-forwarded-proto': 'http' },
      expected: 'https://auth.other.example',
    },
    {
      headers: { 'x-forwarded-host': 'localhost:3000', 'x-forwarded-proto': 'http' },
      expected: 'http://localhost:3000',
    },
  ]
  for (const { headers, expected } of cases) {
    test(`uses ${expected} for ${JSON.stringify(headers)}`, async () => {
      const { app, mail } = await server(env)
      const email = newAddress()
      const message = await emailAfter({ mail }, email, () =>
        call(app, '/otp', { email }, { headers }),
      )
      assert.equal(new URL(linkIn(message)).origin, expected)
    })
  }
})
