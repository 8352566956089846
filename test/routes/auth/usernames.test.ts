import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import {
  emailAfter,
  open,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode, verify } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import {
  autoconfirm,
  confirmedUser,
  newAddress,
  password,
  signIn,
  signUp,
  unconfirmedUser,
} from '../../support/users.ts'

const usernames = { AUTH_USERNAMES_ENABLED: 'true' }
const open6 = { ...usernames, ...autoconfirm }

const signInByName = (app: App, username: string, more: object = {}) =>
  call(app, '/token?grant_type=password', { username, password, ...more })

const check = (app: App, username: string) => call(app, '/signup/username', { username })

async function named(app: App, username: string): Promise<Session & { email: string }> {
  const email = newAddress()
  const response = await signUp(app, { email }, { username })
  assert.equal(response.statusCode, 200, response.body)
  return { ...response.json<Session>(), email }
}

function claimsIn({ access_token }: Session): Record<string, unknown> {
  const [, payload = ''] = access_token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}

suite('sign-in by username', () => {
  const servers = sharedServers()

  test('creates a session whose tokens contain the username', async () => {
    const { app } = await servers(open6)
    const { user } = await named(app, 'Ann.Other')
    const response = await signInByName(app, 'ann.OTHER')
    assert.equal(response.statusCode, 200, response.body)
    const session = response.json<Session>()
    assert.equal(session.user.id, user.id)
    assert.equal(claimsIn(session).preferred_username, 'ann.other')
    const renewed = (await refresh(app, session.refresh_token)).json<Session>()
    assert.equal(claimsIn(renewed).preferred_username, 'ann.other')
  })

  test('returns the same error for unknown names, wrong passwords and invalid usernames', async () => {
    const { app } = await servers(open6)
    await named(app, 'ann')
    const responses = await Promise.all([
      signInByName(app, 'bert'),
      signInByName(app, 'ann', { password: 'wrong horse' }),
      signInByName(app, 'not a name'),
      signInByName(app, 'x'.repeat(2000)),
    ])
    const bodies = responses.map(({ statusCode, body }) => `${statusCode} ${body}`)
    assert.equal(new Set(bodies).size, 1)
    assert.deepEqual(statusAndCode(responses[0] ?? assert.fail()), [400, 'invalid_credentials'])
  })

  const wrong = { password: 'wrong horse' }
  const throttled = [429, 'over_request_rate_limit']
  const refused = [400, 'invalid_credentials']

  test('does not tell whose name it is by the limit of the address', async () => {
    const { app } = await servers(open6)
    const { email } = await named(app, 'clara')
    for (let i = 0; i < 11; i += 1) await signIn(app, { email, ...wrong })
    assert.deepEqual(statusAndCode(await signIn(app, { email, ...wrong })), throttled)
    const [own, unknown] = [
      await signInByName(app, 'clara', wrong),
      await signInByName(app, 'clara2', wrong),
    ]
    assert.deepEqual(statusAndCode(own), refused)
    assert.deepEqual([own.statusCode, own.body], [unknown.statusCode, unknown.body])
    assert.equal((await signInByName(app, 'clara')).statusCode, 200)
  })

  test('does not tell whose address it is by the limit of the name', async () => {
    const { app } = await servers(open6)
    const { email } = await named(app, 'dora')
    for (let i = 0; i < 11; i += 1) await signInByName(app, 'dora', wrong)
    assert.deepEqual(statusAndCode(await signInByName(app, 'DORA', wrong)), throttled)
    assert.deepEqual(statusAndCode(await signIn(app, { email, ...wrong })), refused)
  })

  test('is possible again after a link of the address was opened', async () => {
    const server = await servers(usernames)
    const { app } = server
    const email = newAddress()
    const { message } = await unconfirmedUser(server, email, { username: 'emil' })
    await verify(app, { type: 'signup', email, token: codeIn(message) })
    // Of another device, whose attempts count for the account.
    const options = { headers: { 'user-agent': 'another' } }
    const attempt = async () => {
      const body = { username: 'emil', ...wrong }
      return statusAndCode(await call(app, '/token?grant_type=password', body, options))
    }
    for (let i = 0; i < 11; i += 1) await attempt()
    assert.deepEqual(await attempt(), throttled)
    const recover = () => call(app, '/recover', { username: 'emil' })
    await open(app, await emailAfter(server, email, recover))
    assert.deepEqual(await attempt(), refused)
  })

  test('throttles unknown names', async () => {
    const { app } = await servers(open6)
    for (let i = 0; i < 11; i += 1) await signInByName(app, 'zoe')
    assert.deepEqual(statusAndCode(await signInByName(app, 'zoe')), [
      429,
      'over_request_rate_limit',
    ])
  })

  test('rejects a username together with an email address', async () => {
    const { app } = await servers(open6)
    const response = await signInByName(app, 'ann', { email: 'ann@example.com' })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })

  test('is disabled by default, and a sign-up ignores the field', async () => {
    const { app } = await servers(autoconfirm)
    const session = await named(app, 'not a username at all')
    assert.equal(claimsIn(session).preferred_username, undefined)
    assert.deepEqual(statusAndCode(await signInByName(app, 'ann')), [400, 'validation_failed'])
    assert.deepEqual(statusAndCode(await check(app, 'ann')), [404, 'feature_disabled'])
  })
})

suite('sign-up with a username', () => {
  const servers = sharedServers()

  test('assigns the username when the address is confirmed', async () => {
    const server = await servers(usernames)
    const email = newAddress()
    const { message } = await unconfirmedUser(server, email, { username: 'ann' })
    assert.deepEqual(statusAndCode(await signInByName(server.app, 'ann')), [
      400,
      'invalid_credentials',
    ])
    const confirmed = await verify(server.app, { type: 'signup', email, token: codeIn(message) })
    assert.equal(claimsIn(confirmed.json()).preferred_username, 'ann')
    assert.equal((await signInByName(server.app, 'ann')).statusCode, 200)
  })

  test('reserves the name for a new and for a taken address', async () => {
    const server = await servers(usernames)
    const { app } = server
    const taken = newAddress()
    await confirmedUser(server, taken)
    const one = await signUp(app, { email: newAddress() }, { username: 'for-new' })
    const other = await signUp(app, { email: taken }, { username: 'for-taken' })
    assert.deepEqual([one.statusCode, other.statusCode], [200, 200])
    for (const username of ['for-new', 'for-taken']) {
      assert.deepEqual((await check(app, username)).json(), { username, available: false })
      const third = await signUp(app, { email: newAddress() }, { username })
      assert.deepEqual(statusAndCode(third), [422, 'username_taken'])
    }
    // The user of the address keeps having none.
    assert.deepEqual(statusAndCode(await signInByName(app, 'for-taken')), [
      400,
      'invalid_credentials',
    ])
  })

  test('can be repeated with the same name and address', async () => {
    const { app } = await servers(usernames)
    const email = newAddress()
    const first = await signUp(app, { email }, { username: 'clara' })
    const again = await signUp(app, { email }, { username: 'clara' })
    const another = await signUp(app, { email }, { username: 'clara-2' })
    assert.deepEqual(
      [first, again, another].map(({ statusCode }) => statusCode),
      [200, 200, 200],
    )
    assert.equal((await check(app, 'clara')).json<{ available: boolean }>().available, true)
  })

  const invalid = ['ab', 'x'.repeat(33), 'ann other', 'ann@example.com', 'änn', 'ann/other']
  for (const username of invalid) {
    test(`rejects ${JSON.stringify(username)}`, async () => {
      const { app } = await servers(open6)
      const response = await signUp(app, { email: newAddress() }, { username })
      assert.deepEqual(statusAndCode(response), [422, 'username_invalid'])
    })
  }

  const unavailable = ['admin', 'Admin', 'adrnin', 'ann', 'ANN', 'rnax', 'max']
  test('rejects reserved and taken names and names that look like them', async () => {
    const { app } = await servers(open6)
    await named(app, 'ann')
    await named(app, 'max')
    for (const username of unavailable) {
      const response = await signUp(app, { email: newAddress() }, { username })
      assert.deepEqual(statusAndCode(response), [422, 'username_taken'], username)
    }
  })

  test('accepts other scripts when enabled, and rejects confusable names', async () => {
    const env = { ...open6, AUTH_USERNAMES_ALLOW_UNICODE: 'true' }
    const { app } = await servers(env)
    await named(app, 'scope')
    await named(app, 'ΜΑΡΊΑ')
    assert.equal((await signInByName(app, 'μαρία')).statusCode, 200)
    const cyrillic = await signUp(app, { email: newAddress() }, { username: 'ѕсоре' })
    assert.deepEqual(statusAndCode(cyrillic), [422, 'username_taken'])
    const mark = await signUp(app, { email: newAddress() }, { username: '\u0301abc' })
    assert.deepEqual(statusAndCode(mark), [422, 'username_invalid'])
  })

  test('assigns a name to one of two concurrent sign-ups', async () => {
    const { app } = await servers(open6)
    const attempts = Array.from({ length: 6 }, () =>
      signUp(app, { email: newAddress() }, { username: 'wanted' }),
    )
    const statuses = (await Promise.all(attempts)).map(({ statusCode }) => statusCode).toSorted()
    assert.deepEqual(statuses, [200, 422, 422, 422, 422, 422])
  })
})

suite('recovery by username', () => {
  const servers = sharedServers()

  test('sends the link to the address of the user', async () => {
    const server = await servers(open6)
    const { email } = await named(server.app, 'ann')
    const recover = () => call(server.app, '/recover', { username: 'Ann' })
    const message = await emailAfter(server, email, recover)
    const { fragment } = redirectParams(await open(server.app, message))
    assert.equal(fragment.type, 'recovery')
  })

  test('returns the same response for an unknown name and sends nothing', async () => {
    const server = await servers(open6)
    const { email } = await named(server.app, 'clara')
    await emailAfter(server, email, () => call(server.app, '/recover', { username: 'clara' }))
    const sent = server.mail.messages.length
    const known = await call(server.app, '/recover', { username: 'clara' })
    const unknown = await call(server.app, '/recover', { username: 'bert' })
    assert.deepEqual([unknown.statusCode, unknown.body], [known.statusCode, known.body])
    await waitForIdleQueue(server)
    const recipients = server.mail.messages.slice(sent).map(({ to }) => to)
    assert.ok(recipients.every((to) => to === email))
  })

  test('does not tell whose name it is by the limits of codes', async () => {
    const { app } = await servers(open6)
    const [{ email: ann }, { email: max }] = [await named(app, 'ann'), await named(app, 'max')]
    const enter = async (recipient: object) => {
      const response = await verify(app, { type: 'recovery', token: '000000', ...recipient })
      return `${response.statusCode} ${response.body}`
    }
    const refused = await enter({ username: 'unused-name' })
    assert.match(refused, /otp_expired/)
    const isThrottled = async (recipient: object) =>
      (await enter(recipient)).includes('over_request_rate_limit')
    for (let i = 0; i < 21; i += 1) await enter({ email: ann })
    assert.ok(await isThrottled({ email: ann }))
    assert.equal(await enter({ username: 'ann' }), refused)
    for (const username of ['max', 'unknown-name']) {
      for (let i = 0; i < 21; i += 1) await enter({ username })
      assert.ok(await isThrottled({ username }), username)
    }
    assert.equal(await enter({ email: max }), refused)
  })

  test('applies the send interval to known and unknown names', async () => {
    const server = await servers({ ...open6, AUTH_SMTP_MAX_FREQUENCY: '60' })
    await named(server.app, 'ann')
    for (const username of ['ann', 'bert']) {
      assert.equal((await call(server.app, '/recover', { username })).statusCode, 200)
      const again = await call(server.app, '/recover', { username })
      assert.deepEqual(statusAndCode(again), [429, 'over_email_send_rate_limit'])
    }
  })
})
