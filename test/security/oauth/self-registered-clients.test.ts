/** Any attacker may register a client (RFC 9700 §4.11.2, RFC 7591 §5). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  callbackUrl,
  createClient,
  decodeClaims,
  exchangeCode,
  makePkce,
  oauthServer,
  openRegistration,
  postForm,
  registerClient,
  requestAuthorization,
} from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  openBrowser,
  refreshIn,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signUpUser } from '../../support/users.ts'

const evil = 'https://evil.example/landing'

suite('self-registered clients', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(openRegistration)).app

  test('get no redirect for an error of their request: the page shows a link', async () => {
    const app = await server()
    const { client_id } = await registerClient(app, { redirect_uris: [evil] })
    const response = await requestAuthorization(app, { client_id, redirect_uri: evil, scope: 'x' })
    assert.equal(response.statusCode, 400)
    assert.equal(response.headers.location, undefined)
    assert.equal(refreshIn(response.body), undefined)
    assert.match(response.body, /href="https:\/\/evil\.example\/landing\?error=invalid_scope&amp;/)
    assert.match(response.body, /Continue to evil\.example/)
  })

  test('get a link where a client of the operator gets a redirect with the error', async () => {
    const app = await server()
    const { client_id } = await createClient(app)
    const asked = { client_id, redirect_uri: callbackUrl, scope: 'x' }
    const response = await requestAuthorization(app, asked)
    assert.equal(response.statusCode, 302)
    assert.match(String(response.headers.location), /error=invalid_scope/)
  })

  test('get no redirect after a logout: the page shows a link', async () => {
    const app = await server()
    const { client_id } = await registerClient(app, { post_logout_redirect_uris: [evil] })
    const query = new URLSearchParams({ client_id, post_logout_redirect_uri: evil })
    const page = await openBrowser(app).open(`/oauth/logout?${query}`)
    assert.equal(titleIn(page), 'You are signed out')
    assert.equal(refreshIn(page.html), undefined)
    assert.match(page.html, /href="https:\/\/evil\.example\/landing"/)
  })

  test('are shown with their host on the sign-in page and with a warning on the consent page', async () => {
    const app = await server()
    const client = await registerClient(app, { client_name: 'Your Bank', redirect_uris: [evil] })
    const url = authorizeUrl(client, makePkce().challenge, { redirect_uri: evil })
    const signIn = await openBrowser(app).open(url)
    assert.match(signIn.html, /to continue to evil\.example/)
    assert.ok(!signIn.html.includes('Your Bank'))
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const consent = await browser.open(url)
    assert.match(consent.html, /Its name is not verified/)
    assert.match(consent.html, /You will be redirected to evil\.example/)
  })

  test('are shown with a warning on the page that connects a device', async () => {
    const app = await server()
    const grant_types = ['urn:ietf:params:oauth:grant-type:device_code']
    const fields = { client_name: 'Your Bank', grant_types, token_endpoint_auth_method: 'none' }
    const { client_id } = await registerClient(app, fields)
    const asked = await postForm(app, '/oauth/device_authorization', { client_id })
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const { user_code } = asked.json()
    const form = await browser.open('/oauth/device')
    const consent = await browser.submit(form, { action: 'look_up', user_code })
    assert.match(consent.html, /Its name is not verified/)
    assert.match(consent.html, /only if you started this yourself/)
  })

  const rejectedNames: Record<string, string> = {
    'the name of a client of the operator': 'Payroll',
    'the name of a client of the operator in another case and with blanks': ' PAY ROLL ',
    'the name of a client of the operator in full-width letters': 'Ｐａｙｒｏｌｌ',
    'the name of a client of the operator with accents': 'Páyröll',
    'a Cyrillic letter among Latin ones': 'Pаyroll',
    'a Greek letter among Latin ones': 'Pαyroll',
    'a zero-width blank': 'Pay\u200broll',
    'an override of the reading direction': 'Pay\u202ellor',
    'a line break': 'Good\nApp',
    'the name of a client of the operator and an invisible letter': 'Payroll\u3164',
    'an invisible letter only': '\uffa0',
    'blanks only': '  ',
    'the name of a client of the operator with a capital I for an l': 'PayroIl',
    'the name of a client of the operator with digits for letters': 'C0c0',
    'the name of a client of the operator in Cyrillic letters that look alike': 'Сосо',
  }
  for (const [title, client_name] of Object.entries(rejectedNames)) {
    test(`cannot use ${title} in their name`, async () => {
      const app = await server()
      await createClient(app, { client_name: 'Payroll' })
      await createClient(app, { client_name: 'Coco' })
      const payload = { client_name, redirect_uris: [callbackUrl] }
      const response = await app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
      assert.deepEqual(
        [response.statusCode, response.json().error],
        [400, 'invalid_client_metadata'],
      )
    })
  }

  test('can have a name in another script or one that mixes Latin and Japanese', async () => {
    const app = await server()
    for (const client_name of ['Записки', 'メモ App', 'مذكرات', 'Café №1']) {
      assert.equal((await registerClient(app, { client_name })).client_name, client_name)
    }
  })

  const hostile: Record<string, object> = {
    'a script as logo': { logo_uri: 'javascript:alert(1)' },
    'a script as policy': { policy_uri: 'javascript:alert(1)' },
    'content as terms': { tos_uri: 'data:text/html,<script>alert(1)</script>' },
    'a script as client page': { client_uri: 'vbscript:x' },
    'a script as address after logout': { post_logout_redirect_uris: ['javascript:alert(1)'] },
    'plain http as address after logout': { post_logout_redirect_uris: ['http://evil.example/'] },
    'a name of a megabyte': { client_name: 'x'.repeat(1_000_000) },
    'a thousand redirect URIs': {
      redirect_uris: Array.from({ length: 1000 }, (_, at) => `${callbackUrl}/${at}`),
    },
    'a file as key set': { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'file:///etc' },
    'a name that is an object': { client_name: { toString: 'x' } },
  }
  for (const [title, fields] of Object.entries(hostile)) {
    test(`cannot register ${title}`, async () => {
      const app = await server()
      const payload = { redirect_uris: [callbackUrl], ...fields }
      const response = await app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
      assert.ok([400, 413].includes(response.statusCode), response.body)
    })
  }

  test('cannot register resources or disable PKCE', async () => {
    const app = await server()
    const fields = { resources: ['https://bank.example'], require_pkce: false }
    const { client_id } = await registerClient(app, fields)
    const redirect_uri = callbackUrl
    const resource = 'https://bank.example'
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const targeted = await requestAuthorization(app, { client_id, redirect_uri, resource, ...pkce })
    assert.match(targeted.body, /error=invalid_target/)
    const plain = await requestAuthorization(app, { client_id, redirect_uri })
    assert.match(plain.body, /error=invalid_request/)
  })

  test('receive the email and metadata of a user only with the matching scopes', async () => {
    const { app } = await serverFor(oauthServer)
    const client = await createClient(app)
    const user = await signUpUser(app)
    const { verifier, challenge } = makePkce()
    const browser = await signedInBrowser(app, user.email)
    const consent = await browser.open(authorizeUrl(client, challenge, { scope: 'openid' }))
    const done = await browser.submit(consent, { action: 'approve' })
    const code = new URL(refreshIn(done.html) ?? '').searchParams.get('code') ?? ''
    const tokens = (await exchangeCode(app, client, code, { code_verifier: verifier })).json()
    const { email, phone, user_metadata, sub } = decodeClaims(tokens.access_token)
    assert.deepEqual([email, phone, user_metadata, sub], ['', '', {}, user.user.id])
    assert.equal(decodeClaims(tokens.id_token).email, undefined)
  })
})
