import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { changeUser, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { newAddress, newNumber, signIn, signUp } from '../../support/users.ts'
import { deadUrl, type VendorResponse, vendorServer } from '../../support/vendor-server.ts'

const breached = 'Passw0rd-in-every-list'
const unknown = 'correct horse battery'
const suffix = createHash('sha1').update(breached).digest('hex').toUpperCase().slice(5)
const listed: VendorResponse = { text: `${'0'.repeat(35)}:3\r\n${suffix}:1234\r\n` }

async function start(t: TestContext, url: string, more: Record<string, string> = {}) {
  const env = {
    AUTH_PASSWORD_HIBP_ENABLED: 'true',
    AUTH_PASSWORD_HIBP_URL: url,
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    ...more,
  }
  const { app } = await build(t, { env })
  const signUpWith = (secret: string, email = newAddress()) =>
    signUp(app, { email, password: secret })
  return { app, signUpWith }
}

suite('breached passwords', () => {
  test('rejects breached passwords at sign-up and change, sending only five hash digits', async (t) => {
    const { url, seen } = await vendorServer(t, listed)
    const { app, signUpWith } = await start(t, url)
    for (const address of [{ email: newAddress() }, { phone: newNumber() }]) {
      const response = await signUp(app, { ...address, password: breached })
      assert.deepEqual(statusAndCode(response), [422, 'weak_password'])
      assert.deepEqual(response.json().weak_password, { reasons: ['pwned'] })
    }
    const session = (await signUpWith(unknown)).json()
    const changed = await changeUser(app, session.access_token, { password: breached })
    assert.deepEqual(statusAndCode(changed), [422, 'weak_password'])
    assert.ok(seen.length > 0)
    for (const { path, body } of seen) {
      assert.match(path, /^\/range\/[0-9A-F]{5}$/)
      assert.equal(body, '')
    }
  })

  test('signs in with a password breached later and reports weak_password', async (t) => {
    const { url } = await vendorServer(t, { text: `${'0'.repeat(35)}:3\r\n` }, listed)
    const { app, signUpWith } = await start(t, url)
    const email = newAddress()
    assert.equal((await signUpWith(breached, email)).statusCode, 200)
    const later = Date.now() + 2 * 60 * 60 * 1000
    t.mock.timers.enable({ apis: ['Date'], now: later })
    const credentials = { email, password: breached }
    const signedIn = await signIn(app, credentials)
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.deepEqual(signedIn.json().weak_password.reasons, ['pwned'])
  })

  const outages: Record<string, (t: TestContext) => Promise<string>> = {
    'is unreachable': deadUrl,
    'returns an error': async (t) => (await vendorServer(t, { status: 503, text: 'busy' })).url,
    'returns invalid data': async (t) => (await vendorServer(t, { text: '<html>' })).url,
  }
  for (const [what, list] of Object.entries(outages)) {
    test(`when the list ${what}: accepts the password unless AUTH_PASSWORD_HIBP_FAIL_CLOSED is set`, async (t) => {
      const url = await list(t)
      const open = await start(t, url)
      assert.equal((await open.signUpWith(breached)).statusCode, 200)
      const closed = await start(t, url, { AUTH_PASSWORD_HIBP_FAIL_CLOSED: 'true' })
      const response = await closed.signUpWith(unknown)
      assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'])
      const { rows } = await closed.app.pool.query('select id from auth.users')
      assert.deepEqual(rows, [])
    })
  }

  test('signs in existing users while the list is down', async (t) => {
    const { url, server } = await vendorServer(t, listed)
    const { app, signUpWith } = await start(t, url, { AUTH_PASSWORD_HIBP_FAIL_CLOSED: 'true' })
    const email = newAddress()
    const session = (await signUpWith(unknown, email)).json()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 60 * 60 * 1000 })
    const credentials = { email, password: unknown }
    const signedIn = await signIn(app, credentials)
    assert.equal(signedIn.json().user?.id, session.user.id, signedIn.body)
  })
})
