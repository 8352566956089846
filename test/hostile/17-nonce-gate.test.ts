/** Row 17: guesses at the code that a new password needs are counted for the person, across all the codes they ask for. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, suite, test } from 'node:test'

import { mailAfter, nextMail } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import { confirmedPerson, newNumber, phonePerson } from '../support/people.ts'
import { sharedSmsServer } from '../support/phone-journeys.ts'
import { call, verify } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }
const other = 'something else entirely'

const put = ({ app }: Pick<Built, 'app'>, token: string, nonce: string) =>
  call(app, '/user', { password: other, nonce }, { method: 'PUT', token })

const askNonce = ({ app }: Pick<Built, 'app'>, token: string) =>
  call(app, '/reauthenticate', undefined, { token })

async function age({ app }: Pick<Built, 'app'>, userId: string): Promise<void> {
  const created_at = new Date(Date.now() - 25 * 3_600_000)
  await app.db.updateTable('sessions').set({ created_at }).where('user_id', '=', userId).execute()
}

suite('row 17: guesses at the code for a new password', () => {
  // However long a test takes, no wait ends meanwhile.
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
  afterEach(() => mock.timers.reset())

  const servers = sharedServers()
  const texting = sharedSmsServer({ env })

  async function longSignedIn(server: Built) {
    const person = await confirmedPerson(server)
    await age(server, person.user.id)
    return person
  }

  test('a new code does not begin a new count', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    let tried = 0
    for (let code = 0; code < 4; code++) {
      await mailAfter(server, user.email, () => askNonce(server, access_token))
      for (let i = 0; i < 9; i++) {
        const answer = await put(server, access_token, `x${i}`)
        if (answer.json().error_code === 'reauthentication_not_valid') tried += 1
      }
    }
    assert.ok(tried <= 21, `${tried} were tried`)
    const last = await put(server, access_token, 'x')
    assert.equal(last.json().error_code, 'over_request_rate_limit')
    assert.ok(Number(last.headers['retry-after']) >= 1)
  })

  test('nor does a new device or another session', async () => {
    const server = await servers(env)
    const { user } = await longSignedIn(server)
    const statuses = []
    for (let device = 0; device < 25; device++) {
      const headers = { 'user-agent': `device ${device}` }
      const body = { email: user.email, password: 'correct horse battery' }
      const signedIn = await call(server.app, '/token?grant_type=password', body, { headers })
      await age(server, user.id)
      const { access_token: token } = signedIn.json()
      const guess = { password: other, nonce: 'x' }
      const put = await call(server.app, '/user', guess, { method: 'PUT', token, headers })
      statuses.push(put.json().error_code)
    }
    assert.equal(statuses.at(-1), 'over_request_rate_limit')
  })

  for (const by of ['mail', 'text message']) {
    test(`a hundred at once, by ${by}`, async () => {
      const server = by === 'mail' ? await servers(env) : await texting()
      const person =
        by === 'mail' ? await confirmedPerson(server) : await phonePerson(await texting())
      await age(server, person.user.id)
      await askNonce(server, person.access_token)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => put(server, person.access_token, `x${i}`)),
      )
      const codes = answers.map((answer) => answer.json().error_code)
      const tried = codes.filter((code) => code === 'reauthentication_not_valid').length
      assert.ok(tried > 0 && tried <= 20, `${tried} were tried: ${[...new Set(codes)]}`)
      const waiting = codes.filter((code) => code === 'over_request_rate_limit').length
      assert.equal(tried + waiting, 100)
    })
  }

  test('the right code waits with the wrong ones, then works and gives its count back', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    for (let i = 0; i < 20; i++) await put(server, access_token, `x${i}`)
    const since = server.mail.messages.length
    assert.equal((await askNonce(server, access_token)).statusCode, 200)
    const nonce = codeIn(await nextMail(server, user.email, since))
    assert.equal((await put(server, access_token, nonce)).statusCode, 429)
    mock.timers.setTime(Date.now() + 2000)
    assert.equal((await put(server, access_token, nonce)).statusCode, 200)
  })

  test('guesses at codes of a sign-in are another count', async () => {
    const server = await servers(env)
    const { access_token, user } = await longSignedIn(server)
    const { email } = user
    for (let i = 0; i < 21; i++) await verify(server.app, { type: 'recovery', email, token: 'x' })
    const answer = await put(server, access_token, 'x')
    assert.equal(answer.json().error_code, 'reauthentication_not_valid')
  })

  test('somebody else goes on', async () => {
    const server = await texting()
    const [ann, bob] = [await phonePerson(server), await phonePerson(server, newNumber())]
    for (const { user } of [ann, bob]) await age(server, user.id)
    for (let i = 0; i < 22; i++) await put(server, ann.access_token, `x${i}`)
    assert.equal((await put(server, ann.access_token, 'x')).statusCode, 429)
    const answer = await put(server, bob.access_token, 'x')
    assert.equal(answer.json().error_code, 'reauthentication_not_valid')
    assert.equal((await call(server.app, '/otp', { phone: bob.user.phone })).statusCode, 200)
  })
})
