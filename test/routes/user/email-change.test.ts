/** Email changes requested by PUT /user and confirmed by one or both emails, in either order. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { insertIdentity } from '../../../db/identities/identities.ts'
import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import {
  emailedToken,
  nextEmail,
  open,
  pkcePair,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { confirmedUser, newAddress, signIn } from '../../support/users.ts'

const query = `?redirect_to=${encodeURIComponent('http://app.example/profile')}`

interface Change {
  server: Built
  token: string
  current: string
  expected: string
  toNew: ReceivedMail
  toCurrent: ReceivedMail
}

const put = ({ app }: Built, token: string, body: object) =>
  call(app, `/user${query}`, body, { method: 'PUT', token })

/** A user with a pending email change and both emails. */
async function send(server: Built, fields: object = {}): Promise<Change> {
  const { access_token: token, user } = await confirmedUser(server, newAddress('old'))
  const newValue = newAddress('new')
  const since = server.mail.messages.length
  const response = await put(server, token, { email: newValue, ...fields })
  assert.equal(response.statusCode, 200, response.body)
  const requested = response.json<User>()
  assert.equal(requested.email, user.email)
  assert.equal(requested.new_email, newValue)
  assert.ok(requested.email_change_sent_at)
  const [toNew, toCurrent] = await Promise.all([
    nextEmail(server, newValue, since),
    nextEmail(server, user.email, since),
  ])
  return { server, token, current: user.email, expected: newValue, toNew, toCurrent }
}

async function fetchAddress({ server, token }: Change): Promise<string> {
  return (await call(server.app, '/user', undefined, { token })).json<User>().email
}

const half = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

suite('PUT /user with a new email: double confirmation', () => {
  const servers = sharedServers()
  const notifying = { AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true' }

  test('emails both addresses with separate links and codes', async () => {
    const { current, expected, toNew, toCurrent } = await send(await servers())
    for (const message of [toNew, toCurrent]) {
      assert.equal(message.mail.subject, 'Confirm your new email address')
      assert.equal(new URL(linkIn(message)).searchParams.get('type'), 'email_change')
      assert.ok((message.mail.text ?? '').includes(expected))
    }
    assert.ok((toNew.mail.text ?? '').includes(current))
    assert.notEqual(emailedToken(toNew), emailedToken(toCurrent))
  })

  for (const order of ['current first', 'new first']) {
    const sorted = ({ toNew, toCurrent }: Change) =>
      order === 'new first' ? [toNew, toCurrent] : [toCurrent, toNew]

    test(`confirms by links, ${order}`, async () => {
      const change = await send(await servers())
      const { app } = change.server
      const [first, second] = sorted(change)
      assert.ok(first && second)
      const { site, fragment } = redirectParams(await open(app, first))
      assert.equal(site, 'http://app.example/profile')
      assert.deepEqual(fragment, { message: half })
      assert.equal(await fetchAddress(change), change.current)
      assert.equal(redirectParams(await open(app, first)).fragment.error_code, 'otp_expired')

      const done = redirectParams(await open(app, second)).fragment
      assert.equal(done.type, 'email_change')
      const response = await call(app, '/user', undefined, { token: done.access_token ?? '' })
      const user = response.json<User>()
      assert.equal(user.email, change.expected)
      assert.equal(user.new_email, undefined)
      assert.equal(user.identities?.[0]?.email, change.expected)
      assert.equal(user.identities?.[0]?.identity_data?.email_verified, true)
      assert.equal((await signIn(app, { email: change.expected })).statusCode, 200)
      assert.equal((await signIn(app, { email: change.current })).statusCode, 400)
    })

    test(`confirms by codes, ${order}`, async () => {
      const change = await send(await servers())
      const { app } = change.server
      const [first, second] = sorted(change).map((message) => ({
        type: 'email_change',
        email: message.to,
        token: codeIn(message),
      }))
      assert.ok(first && second)
      const response = await verify(app, first)
      assert.deepEqual([response.statusCode, response.json()], [200, { msg: half, code: '200' }])
      const done = await verify(app, second)
      assert.equal(done.statusCode, 200, done.body)
      const session = done.json<Session>()
      assert.equal(session.type, 'email_change')
      assert.equal(session.user.email, change.expected)
    })
  }

  test('reports the first link of a PKCE client in the query and issues a code by the second', async () => {
    const { verifier, fields } = pkcePair()
    const { server, toNew, toCurrent, expected } = await send(await servers(), fields)
    const first = redirectParams(await open(server.app, toCurrent))
    assert.deepEqual([first.query, first.fragment], [{ message: half }, { message: half }])
    const { query: redirect, fragment } = redirectParams(await open(server.app, toNew))
    assert.deepEqual(fragment, {})
    const body = { auth_code: redirect.code, code_verifier: verifier }
    const session = await call(server.app, '/token?grant_type=pkce', body)
    assert.equal(session.json<Session>().user.email, expected)
  })

  test('does not exchange the code of an earlier link for the email change', async () => {
    const server = await servers()
    const { access_token: token, user } = await confirmedUser(server)
    const { verifier, fields } = pkcePair()
    const since = server.mail.messages.length
    await call(server.app, '/recover', { email: user.email, ...fields })
    const link = await nextEmail(server, user.email, since)
    const later = { email: newAddress(), ...pkcePair().fields }
    assert.equal((await put(server, token, later)).statusCode, 200)
    const { query } = redirectParams(await open(server.app, link))
    const body = { auth_code: query.code, code_verifier: verifier }
    const session = await call(server.app, '/token?grant_type=pkce', body)
    assert.equal(session.statusCode, 200, session.body)
  })

  test('requires both confirmations again after a resend', async () => {
    const change = await send(await servers())
    const { server, token, current, expected } = change
    await open(server.app, change.toCurrent)
    const since = server.mail.messages.length
    const resent = await call(server.app, '/resend', { type: 'email_change', email: current })
    assert.equal(resent.statusCode, 200)
    const again = await nextEmail(server, current, since)
    const { fragment } = redirectParams(await open(server.app, again))
    assert.deepEqual(fragment, { message: half })
    assert.equal(await fetchAddress(change), current)
    const toNew = await nextEmail(server, expected, since)
    assert.equal(redirectParams(await open(server.app, toNew)).fragment.type, 'email_change')

    const other = newAddress('third')
    await put(server, token, { email: other })
    assert.equal(
      redirectParams(await open(server.app, change.toNew)).fragment.error_code,
      'otp_expired',
    )
  })

  test('invalidates the links of a previous request', async () => {
    const change = await send(await servers())
    const { server, token, toNew, toCurrent } = change
    await open(server.app, toCurrent)
    const newValue = newAddress('other')
    await put(server, token, { email: newValue })
    assert.equal(redirectParams(await open(server.app, toNew)).fragment.error_code, 'otp_expired')
    assert.equal(await fetchAddress(change), change.current)
  })

  test('invalidates its links when the user signs in by another emailed link', async () => {
    const { server, current, toNew, toCurrent } = await send(await servers())
    const recover = () => call(server.app, '/recover', { email: current })
    const since = server.mail.messages.length
    assert.equal((await recover()).statusCode, 200)
    const { fragment } = redirectParams(
      await open(server.app, await nextEmail(server, current, since)),
    )
    assert.ok(fragment.access_token, JSON.stringify(fragment))
    for (const link of [toNew, toCurrent]) {
      assert.equal(redirectParams(await open(server.app, link)).fragment.error_code, 'otp_expired')
    }
  })

  test('notifies the previous email when configured', async () => {
    const { server, toNew, toCurrent, current, expected } = await send(await servers(notifying))
    await open(server.app, toCurrent)
    const since = server.mail.messages.length
    await open(server.app, toNew)
    const reported = await nextEmail(server, current, since)
    assert.equal(reported.mail.subject, 'Your email address was changed')
    assert.ok((reported.mail.text ?? '').includes(expected))
  })

  test('does not notify the previous email by default', async () => {
    const { server, toNew, toCurrent } = await send(await servers())
    await open(server.app, toCurrent)
    const since = server.mail.messages.length
    await open(server.app, toNew)
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('rejects a taken email', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedUser(server)
    const taken = (await confirmedUser(server)).user.email
    const response = await put(server, token, { email: ` ${taken.toUpperCase()} ` })
    assert.equal(response.statusCode, 422)
    assert.equal(response.json().error_code, 'email_exists')
  })

  test('does not start the interval for a taken email, and counts an attempt', async () => {
    const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '60' })
    const taken = (await confirmedUser(server)).user.email
    const { access_token: token } = await confirmedUser(server)
    const rejected = await put(server, token, { email: taken })
    assert.deepEqual(statusAndCode(rejected), [422, 'email_exists'])
    assert.equal((await put(server, token, { email: newAddress() })).statusCode, 200)
    // A sent change starts the interval, for free and taken emails.
    const waiting = [429, 'over_email_send_rate_limit']
    assert.deepEqual(statusAndCode(await put(server, token, { email: newAddress() })), waiting)

    const { access_token: otherToken } = await confirmedUser(server)
    const statuses = []
    for (let i = 0; i < 12; i++) {
      statuses.push((await put(server, otherToken, { email: taken })).statusCode)
    }
    assert.deepEqual(statuses.toSorted(), [...Array(10).fill(422), 429, 429])
  })

  test('does not start the interval when another field is rejected', async () => {
    const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '60' })
    const { access_token: token } = await confirmedUser(server)
    const body = { email: newAddress(), phone: 'no number' }
    assert.notEqual((await put(server, token, body)).statusCode, 200)
    assert.equal((await put(server, token, { email: newAddress() })).statusCode, 200)
  })

  test('returns email_exists when another user took the email in between', async () => {
    const { server, toNew, toCurrent, expected } = await send(await servers())
    await open(server.app, toCurrent)
    await confirmedUser(server, expected)
    const { fragment } = redirectParams(await open(server.app, toNew))
    assert.equal(fragment.error_code, 'email_exists')
  })

  test('returns email_exists when the email was linked to another account in between', async () => {
    const { server, toNew, toCurrent, expected } = await send(await servers())
    await open(server.app, toCurrent)
    const { user } = await confirmedUser(server)
    const claims = { sub: '4711', email: expected, email_verified: true }
    const identity = { provider: 'github', provider_id: '4711', identity_data: claims }
    await insertIdentity(server.app.db, { user_id: user.id, ...identity }, new Date())
    const { fragment } = redirectParams(await open(server.app, toNew))
    assert.equal(fragment.error_code, 'email_exists')
  })

  test('gives an email requested by two users to one of them', async () => {
    const server = await servers()
    const newValue = newAddress('both')
    const users = await Promise.all([confirmedUser(server), confirmedUser(server)])
    const links: ReceivedMail[] = []
    for (const { access_token: token, user } of users) {
      const since = server.mail.messages.length
      assert.equal((await put(server, token, { email: newValue })).statusCode, 200)
      links.push(await nextEmail(server, newValue, since))
      await open(server.app, await nextEmail(server, user.email, since))
    }
    const redirects = await Promise.all(links.map((link) => open(server.app, link)))
    const results = redirects.map((response) => redirectParams(response).fragment)
    assert.equal(results.filter(({ type }) => type === 'email_change').length, 1)
    assert.equal(results.filter(({ error_code }) => error_code === 'email_exists').length, 1)
  })

  test('ignores the current email in each spelling', async () => {
    const server = await servers()
    const { access_token: token, user } = await confirmedUser(server)
    const since = server.mail.messages.length
    const response = await put(server, token, { email: user.email.toUpperCase() })
    assert.equal(response.statusCode, 200)
    assert.equal(response.json<User>().new_email, undefined)
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('changes the email once when ten confirmations race', async () => {
    const change = await send(await servers())
    const { app } = change.server
    const all = Array.from({ length: 10 }, (_, i) => (i % 2 ? change.toNew : change.toCurrent))
    const redirects = (await Promise.all(all.map((link) => open(app, link)))).map(redirectParams)
    assert.equal(redirects.filter(({ fragment }) => fragment.message).length, 1)
    assert.equal(redirects.filter(({ fragment }) => fragment.access_token).length, 1)
    assert.equal(await fetchAddress(change), change.expected)
  })
})
