/** `redirect_to` over HTTP: which of the places that may name one counts, and what a refusal looks like. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { landing, mailAfter, pathOf, pkcePair } from '../support/mail-journeys.ts'
import { linkIn } from '../support/mail-links.ts'
import { newAddress } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const site = 'http://app.example'
const a = `${site}/a`
const b = `${site}/b`
const evil = 'https://evil.example/take'

suite('which redirect_to counts', () => {
  const server = sharedServers()

  const cases: {
    what: string
    query?: string
    body?: string
    headers?: Record<string, string>
    expected: string
  }[] = [
    { what: 'none is named', expected: site },
    { what: 'in the query', query: a, expected: a },
    { what: 'in the header, before the query', query: a, headers: { redirect_to: b }, expected: b },
    { what: 'in the JSON body, which is not a place for it', body: a, expected: site },
    { what: 'the page that asked, for want of another', headers: { referer: b }, expected: b },
    { what: 'the page that asked is not ours', headers: { referer: evil }, expected: site },
    { what: 'a foreign one', query: evil, expected: site },
    {
      what: 'a foreign one, and the page that asked',
      query: evil,
      headers: { referer: b },
      expected: b,
    },
    { what: 'a relative one', query: '/a', expected: site },
    { what: 'an empty one', query: '', expected: site },
    {
      what: 'with a query and a fragment of its own',
      query: `${a}?x=1&y=ü#z`,
      expected: `${a}?x=1&y=%C3%BC#z`,
    },
    {
      what: 'with letters of the world',
      query: `${site}/日本`,
      expected: `${site}/%E6%97%A5%E6%9C%AC`,
    },
  ]
  for (const { what, query, body, headers = {}, expected } of cases) {
    test(what, async () => {
      const { app, ...rest } = await server()
      const email = newAddress()
      const asked = query === undefined ? '' : `?redirect_to=${encodeURIComponent(query)}`
      const payload = { email, ...(body && { redirect_to: body }) }
      const message = await mailAfter({ ...rest }, email, () =>
        call(app, `/otp${asked}`, payload, { headers }),
      )
      const link = linkIn(message)
      assert.equal(new URL(link).searchParams.get('redirect_to'), expected)
      const location = String((await app.inject(pathOf(link))).headers.location)
      assert.equal(location.split('#')[0], expected.split('#')[0])
    })
  }

  test('a link whose redirect_to was changed on the way leads to the site', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const message = await mailAfter({ mail }, email, () => call(app, '/otp', { email }))
    const link = new URL(linkIn(message))
    link.searchParams.set('redirect_to', evil)
    assert.equal(landing(await app.inject(pathOf(link.href))).site, `${site}/`)
  })

  test('of a link to which a template added another one, the first', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const asked = `/otp?redirect_to=${a}`
    const message = await mailAfter({ mail }, email, () => call(app, asked, { email }))
    const opened = await app.inject(`${pathOf(linkIn(message))}&redirect_to=${b}&type=recovery`)
    const { site: at, fragment } = landing(opened)
    assert.equal(at, a)
    assert.ok(fragment.access_token)
  })

  test('a refusal is silent for the client, and one log line names the value and the rules', async (t) => {
    const lines: string[] = []
    const env = { AUTH_URI_ALLOW_LIST: 'https://*.good.com/**' }
    const { app } = await build(t, { env, lines })
    const response = await app.inject(
      `/verify?token=x&type=signup&redirect_to=${encodeURIComponent(evil)}`,
    )
    assert.equal(landing(response).site, `${site}/`)
    const refusals = lines.filter((line) => line.includes(evil) && line.includes('refused'))
    assert.equal(refusals.length, 1)
    const line = JSON.parse(refusals[0] ?? '{}')
    assert.equal(line.redirect_to, evil)
    assert.equal(line.siteUrl, site)
    assert.deepEqual(line.allowList, ['https://*.good.com/**'])
  })

  for (const path of ['/signup', '/otp', '/magiclink', '/recover', '/resend']) {
    test(`${path} writes one line of a refusal`, async (t) => {
      const lines: string[] = []
      const { app } = await build(t, { lines })
      const payload = { email: newAddress(), password: 'correct horse', type: 'signup' }
      const asked = `${path}?redirect_to=${encodeURIComponent(evil)}`
      assert.equal((await call(app, asked, payload)).statusCode, 200)
      assert.equal(lines.filter((line) => line.includes('redirect_to refused')).length, 1)
    })
  }
})

suite('what an opened link says when it cannot work', () => {
  const server = sharedServers()
  const expired = {
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  }

  const links: { what: string; token: string; type: string; inQuery: boolean }[] = [
    { what: 'an implicit link', token: 'a'.repeat(64), type: 'signup', inQuery: false },
    { what: 'a PKCE link', token: `pkce_${'a'.repeat(64)}`, type: 'signup', inQuery: true },
    { what: 'an unknown type', token: 'a'.repeat(64), type: 'toString', inQuery: false },
    { what: 'an unknown type of a PKCE link', token: 'pkce_x', type: '__proto__', inQuery: true },
    { what: 'a type that no link has', token: 'a'.repeat(64), type: 'sms', inQuery: false },
  ]
  for (const { what, token, type, inQuery } of links) {
    test(what, async () => {
      const { app } = await server()
      const response = await app.inject(`/verify?token=${token}&type=${type}&redirect_to=${a}`)
      const { site: at, query, fragment } = landing(response)
      assert.equal(at, a)
      assert.deepEqual(fragment, expired)
      assert.deepEqual(query, inQuery ? expired : {})
      assert.match(String(response.headers.location), /error_description=Email\+link\+is\+invalid/)
    })
  }

  test('a PKCE link of somebody whose flow is gone', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const body = { email, ...pkcePair().fields }
    const message = await mailAfter({ mail }, email, () => call(app, '/otp', body))
    await app.db.deleteFrom('flow_state').execute()
    const { query } = landing(await app.inject(pathOf(linkIn(message))))
    assert.equal(query.error, 'invalid_request')
    assert.equal(query.error_code, 'flow_state_not_found')
  })

  for (const query of ['', '?type=signup', '?token=abc', '?token=&type=signup']) {
    test(`no link at all (${query || 'nothing'}) is answered with JSON`, async () => {
      const { app } = await server()
      const response = await app.inject(`/verify${query}`)
      assert.equal(response.statusCode, 400)
      assert.equal(response.json().error_code, 'validation_failed')
    })
  }
})

suite('the host of links in mail', () => {
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
    test(`${JSON.stringify(headers)} makes links to ${expected}`, async () => {
      const { app, mail } = await server(env)
      const email = newAddress()
      const message = await mailAfter({ mail }, email, () =>
        call(app, '/otp', { email }, { headers }),
      )
      assert.equal(new URL(linkIn(message)).origin, expected)
    })
  }
})
