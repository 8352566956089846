/** Attempts at reauthentication nonces are counted per user across all nonces. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, suite, test } from 'node:test'

import { emailAfter, nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { confirmedUser, newNumber, phoneUser } from '../../support/users.ts'

const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }
const other = 'something else entirely'

const put = ({ app }: Pick<Built, 'app'>, token: string, nonce: string) =>
  call(app, '/user', { password: other, nonce }, { method: 'PUT', token })

const requestNonce = ({ app }: Pick<Built, 'app'>, token: string) =>
  call(app, '/reauthenticate', undefined, { token })

async function age({ app }: Pick<Built, 'app'>, userId: string): Promise<void> {
  const created_at = new Date(Date.now() - 25 * 3_600_000)
  await app.db.updateTable('sessions').set({ created_at }).where('user_id', '=', userId).execute()
}

suite('reauthentication nonce attempts', () => {
  // The clock does not advance: no wait ends during a test.
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
  afterEach(() => mock.timers.reset())

  const servers = sharedServers()
  const texting = sharedSmsServer({ env })

  async function longSignedIn(server: Built) {
    const user = await confirmedUser(server)
    await age(server, user.user.id)
    return user
  }

  test('are not reset by a new nonce', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    let tried = 0
    for (let code = 0; code < 4; code++) {
      await emailAfter(server, user.email, () => requestNonce(server, access_token))
      for (let i = 0; i < 9; i++) {
        const response = await put(server, access_token, `x${i}`)
        if (response.json().error_code === 'reauthentication_not_valid') tried += 1
      }
    }
    assert.ok(tried <= 21, `${tried} were tried`)
    const last = await put(server, access_token, 'x')
    assert.equal(last.json().error_code, 'over_request_rate_limit')
    assert.ok(Number(last.headers['retry-after']) >= 1)
  })

  test('are not reset by a new device or session', async () => {
    const server = await servers(env)
    const { user } = await longSignedIn(server)
    const statuses = []
    for (let device = 0; device < 25; device++) {
      const headers = { 'user-agent': `device ${device}` }
      const body = { email: user.email, password: 'correct horse battery' }
      const signedIn = await call(server.app, '/token?grant_type=password', body, { headers })
      await age(server, user.id)
      const { access_token: token } = signedIn.json()
      const attempt = { password: other, nonce: 'x' }
      const put = await call(server.app, '/user', attempt, { method: 'PUT', token, headers })
      statuses.push(put.json().error_code)
    }
    assert.equal(statuses.at(-1), 'over_request_rate_limit')
  })

  for (const by of ['mail', 'text message']) {
    test(`are throttled when 100 requests by ${by} race`, async () => {
      const server = by === 'mail' ? await servers(env) : await texting()
      const user = by === 'mail' ? await confirmedUser(server) : await phoneUser(await texting())
      await age(server, user.user.id)
      await requestNonce(server, user.access_token)
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, i) => put(server, user.access_token, `x${i}`)),
      )
      const codes = responses.map((response) => response.json().error_code)
      const tried = codes.filter((code) => code === 'reauthentication_not_valid').length
      assert.ok(tried > 0 && tried <= 20, `${tried} were tried: ${[...new Set(codes)]}`)
      const waiting = codes.filter((code) => code === 'over_request_rate_limit').length
      assert.equal(tried + waiting, 100)
    })
  }

  test('throttle the correct nonce, which resets the counter once it is accepted', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    for (let i = 0; i < 20; i++) await put(server, access_token, `x${i}`)
    const since = server.mail.messages.length
    assert.equal((await requestNonce(server, access_token)).statusCode, 200)
    const nonce = codeIn(await nextEmail(server, user.email, since))
    assert.equal((await put(server, access_token, nonce)).statusCode, 429)
    mock.timers.setTime(Date.now() + 2000)
    assert.equal((await put(server, access_token, nonce)).statusCode, 200)
  })

  test('are counted separately from sign-in codes', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    const { email } = user
    for (let i = 0; i < 21; i++) await verify(server.app, { type: 'recovery', email, token: 'x' })
    const response = await put(server, access_token, 'x')
    assert.equal(response.json().error_code, 'reauthentication_not_valid')
  })

  test('do not affect another user', async () => {
    const server = await texting()
    const [ann, bob] = [await phoneUser(server), await phoneUser(server, newNumber())]
    for (const { user } of [ann, bob]) await age(server, user.id)
    for (let i = 0; i < 22; i++) await put(server, ann.access_token, `x${i}`)
    assert.equal((await put(server, ann.access_token, 'x')).statusCode, 429)
    const response = await put(server, bob.access_token, 'x')
    assert.equal(response.json().error_code, 'reauthentication_not_valid')
    assert.equal((await call(server.app, '/otp', { phone: bob.user.phone })).statusCode, 200)
  })
})
