/** Attacks on the account page: forgery, framing, injection and stolen sessions. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import {
  accountBrowser,
  accountPage,
  accountUser,
  addApp,
  type Browser,
} from '../../support/account-pages.ts'
import { adminCall } from '../../support/admin.ts'
import { describe, externalServer, verifiedProfile } from '../../support/external.ts'
import { addTotp, everyFactor, stepUp } from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { link } from '../../support/linking.ts'
import { createClient, oauthServer, signInClient } from '../../support/oauth-server.ts'
import { errorIn, openBrowser, type PageResponse, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { changeUser, getUser } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress, password, signedIn, signUpUser } from '../../support/users.ts'

const everything = {
  ...oauthServer,
  ...everyFactor,
  ...passkeysOn,
  ...accountPage,
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
}

const pages = [
  '',
  '/profile',
  '/email',
  '/phone',
  '/password',
  '/confirm',
  '/factors',
  '/passkeys',
  '/devices',
  '/linked',
  '/apps',
  '/data',
  '/delete',
].map((name) => `/account${name}`)

const tokenIn = ({ html }: PageResponse) =>
  /name="form_token" value="([^"]*)"/.exec(html)?.[1] ?? ''

suite('account page under attack', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(everything)

  test('rejects forms of other sites on every page', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    const form_token = tokenIn(await browser.open('/account'))
    const attacker = await accountUser(app)
    const foreign = tokenIn(await attacker.browser.open('/account'))
    const forged: [name: string, headers: Record<string, string>, token: string][] = [
      ['without a token', {}, ''],
      ['with the token of another browser', {}, foreign],
      ['from another origin', { origin: 'https://evil.example' }, form_token],
      ['from another site', { 'sec-fetch-site': 'cross-site' }, form_token],
      ['from a subdomain', { 'sec-fetch-site': 'same-site' }, form_token],
    ]
    for (const path of [...pages, '/account/passkeys/options']) {
      for (const [name, headers, token] of forged) {
        const cookie = browser.cookie
        const rejected = await openBrowser(app, { cookie, ...headers }).send('POST', path, {
          form_token: token,
          action: 'save',
        })
        assert.equal(rejected.status, 400, `${path} ${name}`)
        assert.match(rejected.html, /This page has expired/, `${path} ${name}`)
      }
    }
  })

  test('forbids framing, foreign scripts and caching', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    for (const path of pages) {
      const { headers } = await browser.open(path)
      assert.equal(headers['x-frame-options'], 'DENY', path)
      const policy = String(headers['content-security-policy'])
      for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"]) {
        assert.ok(policy.includes(part), `${path} ${part}`)
      }
      assert.doesNotMatch(policy, /unsafe|\*/, path)
      assert.equal(headers['cache-control'], 'no-store', path)
      assert.equal(headers['referrer-policy'], 'no-referrer', path)
    }
  })

  test('escapes every field that a user, a provider or a client controls', async (t: TestContext) => {
    const markup = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    const external = await externalServer(t, { env: everything })
    const { app } = external
    const { browser, email, ...user } = await accountUser(app)
    await changeUser(app, user.access_token, { data: { name: markup, locale: markup } })
    await signedIn(app, email, { 'user-agent': `${markup}/1.0` })
    const client = await createClient(app, { client_name: markup })
    await signInClient(app, client, user, { scope: 'openid' })
    describe(external.fakes, 'github', verifiedProfile(newAddress(), '77'))
    await link(external, user as Session, 'github', {
      ...verifiedProfile(newAddress(`x'${'&lt;'}`), '77'),
      name: markup,
    })
    await addApp(browser, markup)
    await addPasskeyNamed(app, user.user.id, markup)
    for (const path of pages) {
      const { html } = await browser.open(path)
      assert.doesNotMatch(html, /<script>alert|<img src=x/, path)
    }
    for (const path of [
      '/account/profile',
      '/account/factors',
      '/account/passkeys',
      '/account/apps',
    ]) {
      assert.match((await browser.open(path)).html, /&lt;script&gt;alert/, path)
    }
    for (const query of ['done', 'next']) {
      const reflected = `/account/confirm?${query}=${encodeURIComponent(markup)}`
      assert.doesNotMatch((await browser.open(reflected)).html, /alert\(1\)/)
    }
    const forms: [path: string, fields: Record<string, string>][] = [
      ['/account/email', { email: markup, action: 'change' }],
      ['/account/phone', { phone: markup, action: 'change' }],
      ['/account/factors', { name: markup, phone: markup, action: 'add_phone' }],
      ['/account/confirm', { next: markup, password: 'wrong', action: 'password' }],
    ]
    for (const [path, fields] of forms) {
      const form_token = tokenIn(await browser.open('/account'))
      const shown = await browser.send('POST', path, { form_token, ...fields })
      assert.equal(shown.status, 400, path)
      assert.doesNotMatch(shown.html, /<script>alert|<img src=x/, path)
    }
    const list = await browser.open('/account/factors')
    const scan = await browser.submit(list, { name: 'Second app', action: 'add_totp' })
    const typed = { qr: markup, secret: markup, code: '000000', action: 'verify' }
    const again = await browser.submit(scan, typed)
    assert.equal(errorIn(again), 'The code is wrong or has expired.')
    assert.doesNotMatch(again.html, /<script>alert|<img src=x/)
  })

  test('rejects ids of another user', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    const victim = await signUpUser(app)
    const factor = await addTotp(app, victim, 'theirs')
    const session = await stepUp(app, victim, factor)
    const { identities } = (await getUser(app, session)).json()
    const attempts: [path: string, fields: Record<string, string>][] = [
      ['/account/factors', { action: 'remove', factor_id: factor.id }],
      ['/account/factors', { action: 'verify', factor_id: factor.id, code: factor.code(1) }],
      ['/account/devices', { action: 'revoke', session_id: getSessionId(session) }],
      ['/account/linked', { action: 'unlink', identity_id: identities[0].identity_id }],
      ['/account/passkeys', { action: 'remove', passkey_id: crypto.randomUUID() }],
      ['/account/factors', { action: 'remove', factor_id: '../user' }],
    ]
    for (const [path, fields] of attempts) {
      const form_token = tokenIn(await browser.open('/account'))
      const rejected = await browser.send('POST', path, { form_token, ...fields })
      assert.equal(rejected.status, 400, `${path} ${JSON.stringify(fields)}`)
      assert.ok(errorIn(rejected), path)
    }
    assert.equal((await getUser(app, session)).json().factors.length, 1)
  })

  test('shows no data to a session at aal1 of a user with a second factor', async () => {
    const { app } = await server()
    const { browser, email } = await accountUser(app)
    await addApp(browser)
    const atAal1 = await accountBrowser(app, email)
    for (const path of pages) {
      const shown = await atAal1.open(path)
      assert.equal(titleIn(shown), 'Second factor', path)
      const form_token = tokenIn(shown)
      const posted = await atAal1.send('POST', path, { form_token, action: 'save' })
      if (posted.status === 404) continue
      assert.match(posted.location ?? '', /\/sign-in\/factor\?next=/, path)
    }
  })

  test('requires a new sign-in after a password change, a ban and a sign-out', async () => {
    const { app } = await server()
    const ends: ((browser: Browser, user: Session) => Promise<unknown>)[] = [
      (_browser, user) => changeUser(app, user.access_token, { password: `new ${password}` }),
      (_browser, { user }) =>
        adminCall(app, 'PUT', `/admin/users/${user.id}`, { ban_duration: '1h' }),
      async (browser) => browser.submit(await browser.open('/account'), { action: 'sign_out' }),
    ]
    for (const end of ends) {
      const { browser, ...user } = await accountUser(app)
      const form_token = tokenIn(await browser.open('/account/profile'))
      const { cookie } = browser
      await end(browser, user)
      const old = openBrowser(app, { cookie })
      const fields = { form_token, name: 'x', action: 'save' }
      const posted = await old.send('POST', '/account/profile', fields)
      assert.match(posted.location ?? '', /\/sign-in\?next=/)
    }
  })

  test('is not shown to an impersonating admin, nor is the consent to applications', async () => {
    const { app } = await serverFor({ ...everything, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
    const { browser, user } = await accountUser(app)
    const form_token = tokenIn(await browser.open('/account'))
    const url = `/admin/users/${user.id}/impersonate`
    const session = await adminCall<Session>(app, 'POST', url, {})
    await app.db
      .updateTable('postern_page_sessions')
      .set({ session_id: getSessionId(session) })
      .execute()
    for (const path of ['/account', '/account/devices', '/oauth/device']) {
      const shown = await browser.send('GET', path)
      assert.match(shown.location ?? '', /\/sign-in\?next=/, path)
    }
    const posts: [path: string, fields: Record<string, string>][] = [
      ['/account/profile', { action: 'save', name: 'x' }],
      ['/account/apps', { action: 'revoke', client_id: user.id }],
      ['/account/data', { action: 'download' }],
      ['/oauth/device', { action: 'approve', user_code: 'BBBBBBBB' }],
    ]
    for (const [path, fields] of posts) {
      const posted = await browser.send('POST', path, { form_token, ...fields })
      assert.match(posted.location ?? '', /\/sign-in\?next=/, path)
    }
  })

  test('throttles attempts at the current password on the confirmation page', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    const statuses: number[] = []
    for (let count = 0; count < 12; count++) {
      const form = await browser.open('/account/confirm?next=/account/factors')
      const fields = { password: `wrong ${count}`, action: 'password' }
      statuses.push((await browser.submit(form, fields)).status)
    }
    assert.equal(statuses.at(-1), 429)
  })
})

async function addPasskeyNamed(app: App, userId: string, name: string): Promise<void> {
  const id = crypto.randomUUID()
  const now = new Date()
  const key = { credential_id: Buffer.from(id), public_key: Buffer.from('key'), sign_count: 0 }
  const facts = { attestation_type: 'none', aaguid: null, transports: '[]' }
  const times = { created_at: now, updated_at: now, last_used_at: null }
  const backup = { backup_eligible: false, backed_up: false }
  const row = { id, user_id: userId, friendly_name: name, ...key, ...facts, ...times, ...backup }
  await app.db.insertInto('webauthn_credentials').values(row).execute()
}

const getSessionId = ({ access_token }: Session): string =>
  JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString()).session_id
