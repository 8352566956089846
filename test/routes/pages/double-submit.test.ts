/** Forms of the hosted pages that are submitted twice: by a double click, or by a reload of the answer. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { accountPage, addApp, doneIn } from '../../support/account-pages.ts'
import { cloneDatabase, withoutDrop } from '../../support/database.ts'
import { everyFactor, totpCode } from '../../support/factors/factors.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { createClient, exchangeCode, makePkce, oauthServer } from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  openBrowser,
  type PageResponse,
  refreshIn,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, password, signUpUser } from '../../support/users.ts'

const env = {
  ...oauthServer,
  ...everyFactor,
  ...accountPage,
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  // A second email within a minute is rejected.
  AUTH_SMTP_MAX_FREQUENCY: '60',
}

const clicking = (app: App) => openBrowser(app, {}, { doubleClicks: true })
const byPassword = (email: string) => ({ email, password, action: 'password' })
const tokenIn = ({ html }: PageResponse) =>
  /name="form_token" value="([^"]*)"/.exec(html)?.[1] ?? ''

async function countSessions(app: App, userId: string): Promise<number> {
  const rows = await app.db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .select('id')
    .execute()
  return rows.length
}

suite('a form submitted twice', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(env)

  test('signs in once and leads to the client, whose code is valid', async () => {
    const { app } = await server()
    const client = await createClient(app)
    const { email, user } = await signUpUser(app)
    const browser = clicking(app)
    const { verifier, challenge } = makePkce()
    const signIn = await browser.open(authorizeUrl(client, challenge))
    const consent = await browser.submit(signIn, byPassword(email))
    // One session is that of the sign-up.
    assert.equal(await countSessions(app, user.id), 2)
    const done = await browser.submit(consent, { action: 'approve' })
    const code = new URL(refreshIn(done.html) ?? '').searchParams.get('code') ?? ''
    const exchanged = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(exchanged.statusCode, 200, exchanged.body)
    const again = await browser.open(authorizeUrl(client, challenge, { prompt: 'consent' }))
    const denied = await browser.submit(again, { action: 'deny' })
    assert.match(refreshIn(denied.html) ?? '', /error=access_denied/)
  })

  test('sends one email, and accepts its code', async () => {
    const { app, mail } = await server()
    const { email } = await signUpUser(app)
    const browser = clicking(app)
    const typing = await browser.submit(await browser.open('/sign-in'), { email, action: 'code' })
    assert.equal(titleIn(typing), 'Enter the code')
    const code = codeIn(await nextEmail({ mail }, email))
    const done = await browser.submit(typing, { code, action: 'verify' })
    assert.equal(titleIn(done), 'Your account')
    assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
  })

  test('creates one account', async () => {
    const { app } = await server()
    const browser = clicking(app)
    const page = await browser.open('/sign-in/create')
    const done = await browser.submit(page, { email: newAddress(), password })
    assert.equal(titleIn(done), 'Your account')
  })

  test('verifies a factor and a recovery code once', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = clicking(app)
    await browser.submit(await browser.open('/account'), byPassword(email))
    const secret = await addApp(browser)
    const list = await browser.open('/account/factors')
    const made = await browser.submit(list, { action: 'make_codes' })
    const [recovery = ''] = [...made.html.matchAll(/<code>([^<]+)<\/code>/g)].map(
      ([, one = '']) => one,
    )
    for (const fields of [
      { code: totpCode(secret, 1), action: 'totp' },
      { code: recovery, action: 'recovery' },
    ]) {
      const other = clicking(app)
      const second = await other.submit(await other.open('/account'), byPassword(email))
      assert.equal(titleIn(second), 'Second factor')
      assert.equal(titleIn(await other.submit(second, fields)), 'Your account', fields.action)
    }
    const left = await browser.open('/account/factors')
    assert.match(left.html, /9 of 10 codes are unused/)
  })

  test('changes the password, signs out and deletes the account once', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = clicking(app)
    await browser.submit(await browser.open('/account'), byPassword(email))
    const form = await browser.open('/account/password')
    const changed = await browser.submit(form, { password: `new ${password}`, action: 'change' })
    assert.match(doneIn(changed) ?? '', /^Your password was changed/)
    const out = await browser.submit(await browser.open('/account'), { action: 'sign_out' })
    assert.equal(titleIn(out), 'You are signed out')
    const signIn = await browser.open('/account')
    await browser.submit(signIn, { ...byPassword(email), password: `new ${password}` })
    const asked = await browser.open('/account/delete')
    const gone = await browser.submit(asked, { account: email, action: 'delete' })
    assert.equal(titleIn(gone), 'Your account was deleted')
  })

  test('counts a wrong password once, and takes the right one from the same page', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = clicking(app)
    const page = await browser.open('/sign-in')
    const wrong = await browser.submit(page, { ...byPassword(email), password: 'wrong' })
    assert.equal(errorIn(wrong), 'The email address or the password is wrong.')
    const { rows } = await app.pool.query(
      `select failures from auth.postern_throttles where failures > 0`,
    )
    assert.deepEqual(
      rows.map(({ failures }) => failures),
      [1],
    )
    assert.equal(titleIn(await browser.submit(page, byPassword(email))), 'Your account')
  })

  test('is answered by another replica, also while the first one works', async (t: TestContext) => {
    const database = await cloneDatabase(t)
    const open = () => build(t, { env, database: withoutDrop(database) })
    const [one, two] = [(await open()).app, (await open()).app]
    const { email, user } = await signUpUser(one)
    const browser = openBrowser(one)
    const page = await browser.open('/sign-in')
    const form = { form_token: tokenIn(page), next: '', ...byPassword(email) }
    const elsewhere = openBrowser(two, { cookie: browser.cookie })
    const [first, second] = await Promise.all([
      browser.send('POST', '/sign-in', form),
      elsewhere.send('POST', '/sign-in', form),
    ])
    assert.deepEqual([second.status, second.html], [first.status, first.html])
    assert.deepEqual(second.headers['set-cookie'], first.headers['set-cookie'])
    assert.equal(await countSessions(one, user.id), 2)
  })

  test('is not answered to another browser', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const form = { form_token: tokenIn(page), next: '', ...byPassword(email) }
    const another = openBrowser(app)
    await another.open('/sign-in')
    await browser.send('POST', '/sign-in', form)
    for (const other of [another, openBrowser(app)]) {
      const rejected = await other.send('POST', '/sign-in', form)
      assert.equal(rejected.status, 400)
      assert.equal(rejected.headers['set-cookie'], undefined)
    }
    const crossSite = openBrowser(app, { cookie: browser.cookie, 'sec-fetch-site': 'cross-site' })
    assert.equal((await crossSite.send('POST', '/sign-in', form)).status, 400)
  })

  test('is processed again when its answer has expired or never came', async () => {
    const { app } = await server()
    const { email, user } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const form = { form_token: tokenIn(page), next: '', ...byPassword(email) }
    const cookie = browser.cookie
    const submit = () => openBrowser(app, { cookie }).send('POST', '/sign-in', form)
    const shown = await submit()
    const change = (set: string) =>
      app.pool.query(`update auth.postern_page_submissions set ${set}`)
    await change(`expires_at = now() - interval '1 second'`)
    assert.notEqual((await submit()).headers['set-cookie'], shown.headers['set-cookie'])
    // A process that ended in between has stored no answer.
    await change(`answer = null, expires_at = now() + interval '1 second'`)
    assert.equal((await submit()).status, 200)
    assert.equal(await countSessions(app, user.id), 4)
  })

  test('leaves no secret in the database', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    await browser.submit(await browser.open('/sign-in'), byPassword(email))
    const { rows } = await app.pool.query(
      'select id, answer from auth.postern_page_submissions where answer is not null',
    )
    assert.ok(rows.length > 0)
    const stored = JSON.stringify(rows)
    for (const secret of [email, password, browser.cookie.split('=')[1] ?? '-']) {
      assert.ok(!stored.includes(secret))
    }
    for (const { answer } of rows) assert.ok(app.encryption.isEncrypted(answer))
  })
})
