/**
 * AUTH_EXTERNAL_BIND_BROWSER=always: a sign-in by SAML can be completed only by the browser that started it
 * (docs/decisions/2026-11-21-browser-bound-state.md).
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'

import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import {
  createIdp,
  type ResponseOptions,
  samlService,
  signedResponse,
} from '../../support/saml/idp.ts'
import { formIn } from '../../support/saml/logout.ts'
import { addIdp, ask, requestIn, samlOn } from '../../support/saml/server.ts'
import type { App } from '../../support/server.ts'
import { bodyOf200 } from '../../support/users.ts'

const base = 'https://auth.example'
const bound = { ...samlOn, AUTH_API_EXTERNAL_URL: base, AUTH_EXTERNAL_BIND_BROWSER: 'always' }
const redirect_to = 'http://app.example/signed-in'

/** The address that the client opens in its browser. */
async function start(app: App, body: object): Promise<string> {
  const answer = await call(app, '/sso', { skip_http_redirect: true, redirect_to, ...body })
  return bodyOf200<{ url: string }>(answer).url
}

const open = (app: App, url: string, cookie = '') =>
  app.inject({ url: url.replace(base, ''), headers: { cookie } })

type Response = Awaited<ReturnType<typeof open>>

const cookieIn = ({ headers }: Response) => String(headers['set-cookie'] ?? '').split(';')[0] ?? ''

async function post(app: App, options: ResponseOptions, relayState: string, cookie = '') {
  const SAMLResponse = Buffer.from(signedResponse({ base, ...options })).toString('base64')
  const response = await app.inject({
    method: 'POST',
    url: '/sso/saml/acs',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    payload: new URLSearchParams({ SAMLResponse, RelayState: relayState }).toString(),
  })
  const { searchParams, hash, href } = new URL(String(response.headers.location))
  const isSignedIn = hash.includes('access_token=') || searchParams.has('code')
  return { response, isSignedIn, href, error: searchParams.get('error_code') }
}

const requestIdIn = (request: string) => / ID="([^"]+)"/.exec(request)?.[1]

suite('SAML sign-in bound to the browser', () => {
  const server = serversOnOneDatabase()

  async function begun() {
    const { app } = await server(bound)
    const { idp, id } = await addIdp(app)
    const url = await start(app, { provider_id: id })
    return { app, idp, id, url }
  }

  test('sends the browser to a page that sets a cookie and redirects to the provider', async () => {
    const { app, idp, url } = await begun()
    assert.ok(url.startsWith(`${base}/sso/saml/post?id=`), url)
    const page = await open(app, url)
    assert.equal(page.statusCode, 302)
    assert.ok(String(page.headers.location).startsWith(`${idp.entityId}/sso?`))
    assert.equal(page.headers['cache-control'], 'no-store')
    const [cookie = '', ...attributes] = String(page.headers['set-cookie']).split('; ')
    const { relayState, request } = requestIn(String(page.headers.location))
    assert.match(cookie, new RegExp(`^__Host-postern-flow-${relayState.slice(0, 8)}=[\\w-]{43}$`))
    const expected = ['HttpOnly', 'Secure', 'Path=/', 'SameSite=None', 'Max-Age=300']
    assert.deepEqual(attributes.toSorted(), expected.toSorted())
    const requestId = requestIdIn(request)
    const done = await post(app, { idp, requestId }, relayState, `other=1; ${cookie}`)
    assert.ok(done.isSignedIn, done.href)
    assert.match(String(done.response.headers['set-cookie']), /Max-Age=0/)
  })

  test('rejects the response in another browser, and accepts it in the one that started', async () => {
    const { app, idp, url } = await begun()
    const page = await open(app, url)
    const { relayState, request } = requestIn(String(page.headers.location))
    const options = { idp, requestId: requestIdIn(request) }
    const name = cookieIn(page).split('=')[0]
    for (const cookie of ['', `${name}=`, `${name}=${'x'.repeat(43)}`]) {
      const refused = await post(app, options, relayState, cookie)
      assert.equal(refused.error, 'bad_oauth_state')
      assert.ok(refused.href.startsWith(redirect_to), refused.href)
    }
    assert.ok((await post(app, options, relayState, cookieIn(page))).isSignedIn)
  })

  test('shows the request to the first browser only, again if it asks', async () => {
    const { app, url } = await begun()
    const first = await open(app, url)
    const again = await open(app, url, cookieIn(first))
    assert.ok(String(again.headers.location).includes('SAMLRequest='))
    assert.equal(again.headers['set-cookie'], undefined)
    const other = await open(app, url)
    assert.equal(other.statusCode, 303)
    const location = new URL(String(other.headers.location))
    assert.equal(location.searchParams.get('error_code'), 'bad_oauth_state')
    assert.ok(location.href.startsWith(redirect_to))
  })

  test('binds one of two browsers that open the page at once', async () => {
    const { app, url } = await begun()
    const pages = await Promise.all([open(app, url), open(app, url), open(app, url)])
    assert.deepEqual(pages.map(cookieIn).filter(Boolean).length, 1)
    assert.deepEqual(pages.map(({ statusCode }) => statusCode).toSorted(), [302, 303, 303])
  })

  test('rejects a response to a request whose page no browser opened', async () => {
    const { app, idp, url } = await begun()
    const relayState = new URL(url).searchParams.get('id') ?? ''
    const { request_id } = await app.db
      .selectFrom('saml_relay_states')
      .select('request_id')
      .where('id', '=', relayState)
      .executeTakeFirstOrThrow()
    const refused = await post(app, { idp, requestId: request_id }, relayState)
    assert.equal(refused.error, 'bad_oauth_state')
  })

  test('binds a sign-in with PKCE, and one at a provider with HTTP-POST', async () => {
    const { app } = await server(bound)
    const idp = createIdp(undefined, (entityId) =>
      samlService('SingleSignOnService', 'HTTP-POST', `${entityId}/sso`),
    )
    const { id } = await addIdp(app, {}, idp)
    const challenge = createHash('sha256').update('v'.repeat(50)).digest('base64url')
    const pkce = { code_challenge: challenge, code_challenge_method: 's256' }
    const page = await open(app, await start(app, { provider_id: id, ...pkce }))
    assert.match(String(page.headers['set-cookie']), /SameSite=None/)
    const { SAMLRequest = '', RelayState = '' } = formIn(page.body).fields
    const requestId = requestIdIn(Buffer.from(SAMLRequest, 'base64').toString())
    const refused = await post(app, { idp, requestId }, RelayState)
    assert.equal(refused.error, 'bad_oauth_state')
    const done = await post(app, { idp, requestId }, RelayState, cookieIn(page))
    assert.match(done.href, /^http:\/\/app\.example\/signed-in\?code=/)
  })

  test('sets no cookie unless sign-ins are bound', async () => {
    const { app } = await server({ ...samlOn, AUTH_API_EXTERNAL_URL: base })
    const { idp, id } = await addIdp(app)
    const url = await start(app, { provider_id: id })
    assert.ok(url.startsWith(`${idp.entityId}/sso?`), url)
    const { relayState, request } = requestIn(url)
    const done = await post(app, { idp, requestId: requestIdIn(request) }, relayState)
    assert.ok(done.isSignedIn, done.href)
    assert.equal(done.response.headers['set-cookie'], undefined)
  })
})

suite('SAML sign-in that starts at the identity provider', () => {
  const server = serversOnOneDatabase()
  const off = { ...samlOn, AUTH_SAML_ALLOW_IDP_INITIATED: 'false' }
  const always = { ...samlOn, AUTH_EXTERNAL_BIND_BROWSER: 'always' }

  const cases: [
    title: string,
    env: Record<string, string>,
    provider: object,
    isAccepted: boolean,
  ][] = [
    ['is accepted by default', samlOn, {}, true],
    ['is rejected when the provider denies it', samlOn, { idp_initiated: 'deny' }, false],
    ['is rejected by AUTH_SAML_ALLOW_IDP_INITIATED=false', off, {}, false],
    ['is accepted when the provider allows it nevertheless', off, { idp_initiated: 'allow' }, true],
    ['is rejected when sign-ins are bound to the browser', always, {}, false],
    [
      'is accepted of a provider that allows it, although sign-ins are bound',
      always,
      { idp_initiated: 'allow' },
      true,
    ],
    ['is accepted with the default of the server', samlOn, { idp_initiated: 'default' }, true],
  ]
  for (const [title, env, provider, isAccepted] of cases) {
    test(title, async () => {
      const { app } = await server(env)
      const { idp } = await addIdp(app, provider)
      const done = await post(app, { idp, base: 'http://auth.example' }, redirect_to)
      assert.equal(done.isSignedIn, isAccepted, done.href)
      assert.equal(done.error, isAccepted ? null : 'saml_idp_initiated_disabled')
      assert.ok(done.href.startsWith(redirect_to), done.href)
    })
  }

  test('is set, returned and reset by an admin', async () => {
    const { app } = await server(samlOn)
    const { id } = await addIdp(app, { idp_initiated: 'deny' })
    const read = async () => (await ask(app, 'GET', `/${id}`)).json().saml.idp_initiated
    assert.equal(await read(), 'deny')
    await ask(app, 'PUT', `/${id}`, { name_id_format: '' })
    assert.equal(await read(), 'deny')
    for (const value of ['allow', 'default', 'default']) {
      const changed = await ask(app, 'PUT', `/${id}`, { idp_initiated: value })
      assert.equal(changed.json().saml.idp_initiated, value)
    }
    const unknown = await ask(app, 'PUT', `/${id}`, { idp_initiated: 'never' })
    assert.deepEqual(statusAndCode(unknown), [400, 'validation_failed'])
    const { body } = await ask(app, 'GET', '')
    assert.ok(body.includes('"idp_initiated":"default"'))
  })

  test('is rejected without a session, while a sign-in that started here is accepted', async () => {
    const { app } = await server(off)
    const { idp, id } = await addIdp(app)
    const { relayState, request } = requestIn(await start(app, { provider_id: id }))
    const options = { idp, base: 'http://auth.example' }
    const done = await post(app, { ...options, requestId: requestIdIn(request) }, relayState)
    assert.ok(done.isSignedIn, done.href)
    const { rows } = await app.pool.query('select id from auth.sessions')
    await post(app, options, '')
    assert.deepEqual((await app.pool.query('select id from auth.sessions')).rows, rows)
  })
})
