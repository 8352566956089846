/** Another address: asked for with PUT /user, agreed to by one mailbox or both, in either order. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { insertIdentity } from '../../../db/identities.ts'
import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { idle, landing, nextMail, open, pkcePair, tokenOf } from '../../support/mail-journeys.ts'
import { codeIn, linkIn } from '../../support/mail-links.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { confirmedPerson, newAddress, signIn } from '../../support/people.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const query = `?redirect_to=${encodeURIComponent('http://app.example/profile')}`

interface Change {
  server: Built
  token: string
  current: string
  wanted: string
  toNew: ReceivedMail
  toCurrent: ReceivedMail
}

const put = ({ app }: Built, token: string, body: object) =>
  call(app, `/user${query}`, body, { method: 'PUT', token })

/** Somebody who has asked for another address, with both mails. */
async function ask(server: Built, fields: object = {}): Promise<Change> {
  const { access_token: token, user } = await confirmedPerson(server, newAddress('old'))
  const wanted = newAddress('new')
  const since = server.mail.messages.length
  const response = await put(server, token, { email: wanted, ...fields })
  assert.equal(response.statusCode, 200, response.body)
  const asked = response.json<User>()
  assert.equal(asked.email, user.email)
  assert.equal(asked.new_email, wanted)
  assert.ok(asked.email_change_sent_at)
  const [toNew, toCurrent] = await Promise.all([
    nextMail(server, wanted, since),
    nextMail(server, user.email, since),
  ])
  return { server, token, current: user.email, wanted, toNew, toCurrent }
}

async function addressOf({ server, token }: Change): Promise<string> {
  return (await call(server.app, '/user', undefined, { token })).json<User>().email
}

const half = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

suite('an address that both mailboxes agree to', () => {
  const servers = sharedServers()
  const notifying = { AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true' }

  test('both are asked, each with a link and a code of its own', async () => {
    const { current, wanted, toNew, toCurrent } = await ask(await servers())
    for (const message of [toNew, toCurrent]) {
      assert.equal(message.mail.subject, 'Confirm your new email address')
      assert.equal(new URL(linkIn(message)).searchParams.get('type'), 'email_change')
      assert.ok((message.mail.text ?? '').includes(wanted))
    }
    assert.ok((toNew.mail.text ?? '').includes(current))
    assert.notEqual(tokenOf(toNew), tokenOf(toCurrent))
  })

  for (const order of ['current first', 'new first']) {
    const sorted = ({ toNew, toCurrent }: Change) =>
      order === 'new first' ? [toNew, toCurrent] : [toCurrent, toNew]

    test(`by link, ${order}`, async () => {
      const change = await ask(await servers())
      const { app } = change.server
      const [first, second] = sorted(change)
      assert.ok(first && second)
      const { site, fragment } = landing(await open(app, first))
      assert.equal(site, 'http://app.example/profile')
      assert.deepEqual(fragment, { message: half })
      assert.equal(await addressOf(change), change.current)
      assert.equal(landing(await open(app, first)).fragment.error_code, 'otp_expired')

      const done = landing(await open(app, second)).fragment
      assert.equal(done.type, 'email_change')
      const answer = await call(app, '/user', undefined, { token: done.access_token ?? '' })
      const user = answer.json<User>()
      assert.equal(user.email, change.wanted)
      assert.equal(user.new_email, undefined)
      assert.equal(user.identities?.[0]?.email, change.wanted)
      assert.equal(user.identities?.[0]?.identity_data?.email_verified, true)
      assert.equal((await signIn(app, { email: change.wanted })).statusCode, 200)
      assert.equal((await signIn(app, { email: change.current })).statusCode, 400)
    })

    test(`by typed code, ${order}`, async () => {
      const change = await ask(await servers())
      const { app } = change.server
      const [first, second] = sorted(change).map((message) => ({
        type: 'email_change',
        email: message.to,
        token: codeIn(message),
      }))
      assert.ok(first && second)
      const answer = await verify(app, first)
      assert.deepEqual([answer.statusCode, answer.json()], [200, { msg: half, code: '200' }])
      const done = await verify(app, second)
      assert.equal(done.statusCode, 200, done.body)
      const session = done.json<Session>()
      assert.equal(session.type, 'email_change')
      assert.equal(session.user.email, change.wanted)
    })
  }

  test('a PKCE client is told of the first link in the query, and gets a code by the second', async () => {
    const { verifier, fields } = pkcePair()
    const { server, toNew, toCurrent, wanted } = await ask(await servers(), fields)
    const first = landing(await open(server.app, toCurrent))
    assert.deepEqual([first.query, first.fragment], [{ message: half }, { message: half }])
    const { query: landed, fragment } = landing(await open(server.app, toNew))
    assert.deepEqual(fragment, {})
    const body = { auth_code: landed.code, code_verifier: verifier }
    const session = await call(server.app, '/token?grant_type=pkce', body)
    assert.equal(session.json<Session>().user.email, wanted)
  })

  test('its flow of PKCE is not taken for the one of an earlier link', async () => {
    const server = await servers()
    const { access_token: token, user } = await confirmedPerson(server)
    const { verifier, fields } = pkcePair()
    const since = server.mail.messages.length
    await call(server.app, '/recover', { email: user.email, ...fields })
    const link = await nextMail(server, user.email, since)
    const later = { email: newAddress(), ...pkcePair().fields }
    assert.equal((await put(server, token, later)).statusCode, 200)
    const { query } = landing(await open(server.app, link))
    const body = { auth_code: query.code, code_verifier: verifier }
    const session = await call(server.app, '/token?grant_type=pkce', body)
    assert.equal(session.statusCode, 200, session.body)
  })

  test('one mailbox cannot agree twice: asking again starts from the beginning', async () => {
    const change = await ask(await servers())
    const { server, token, current, wanted } = change
    await open(server.app, change.toCurrent)
    const since = server.mail.messages.length
    const resent = await call(server.app, '/resend', { type: 'email_change', email: current })
    assert.equal(resent.statusCode, 200)
    const again = await nextMail(server, current, since)
    const { fragment } = landing(await open(server.app, again))
    assert.deepEqual(fragment, { message: half })
    assert.equal(await addressOf(change), current)
    const toNew = await nextMail(server, wanted, since)
    assert.equal(landing(await open(server.app, toNew)).fragment.type, 'email_change')

    const other = newAddress('third')
    await put(server, token, { email: other })
    assert.equal(landing(await open(server.app, change.toNew)).fragment.error_code, 'otp_expired')
  })

  test('a wish for yet another address voids the links to the one before', async () => {
    const change = await ask(await servers())
    const { server, token, toNew, toCurrent } = change
    await open(server.app, toCurrent)
    const wanted = newAddress('other')
    await put(server, token, { email: wanted })
    assert.equal(landing(await open(server.app, toNew)).fragment.error_code, 'otp_expired')
    assert.equal(await addressOf(change), change.current)
  })

  test('its links are void once the person came in by a link to their mailbox', async () => {
    const { server, current, toNew, toCurrent } = await ask(await servers())
    const recover = () => call(server.app, '/recover', { email: current })
    const since = server.mail.messages.length
    assert.equal((await recover()).statusCode, 200)
    const { fragment } = landing(await open(server.app, await nextMail(server, current, since)))
    assert.ok(fragment.access_token, JSON.stringify(fragment))
    for (const link of [toNew, toCurrent]) {
      assert.equal(landing(await open(server.app, link)).fragment.error_code, 'otp_expired')
    }
  })

  test('the old address is told, when the operator wants that', async () => {
    const { server, toNew, toCurrent, current, wanted } = await ask(await servers(notifying))
    await open(server.app, toCurrent)
    const since = server.mail.messages.length
    await open(server.app, toNew)
    const told = await nextMail(server, current, since)
    assert.equal(told.mail.subject, 'Your email address was changed')
    assert.ok((told.mail.text ?? '').includes(wanted))
  })

  test('and not otherwise', async () => {
    const { server, toNew, toCurrent } = await ask(await servers())
    await open(server.app, toCurrent)
    const since = server.mail.messages.length
    await open(server.app, toNew)
    await idle(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('an address that somebody else has is refused when asked for', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedPerson(server)
    const taken = (await confirmedPerson(server)).user.email
    const response = await put(server, token, { email: ` ${taken.toUpperCase()} ` })
    assert.equal(response.statusCode, 422)
    assert.equal(response.json().error_code, 'email_exists')
  })

  test('and when somebody else was faster', async () => {
    const { server, toNew, toCurrent, wanted } = await ask(await servers())
    await open(server.app, toCurrent)
    await confirmedPerson(server, wanted)
    const { fragment } = landing(await open(server.app, toNew))
    assert.equal(fragment.error_code, 'email_exists')
  })

  test('and when it became part of another account meanwhile', async () => {
    const { server, toNew, toCurrent, wanted } = await ask(await servers())
    await open(server.app, toCurrent)
    const { user } = await confirmedPerson(server)
    const claims = { sub: '4711', email: wanted, email_verified: true }
    const identity = { provider: 'github', provider_id: '4711', identity_data: claims }
    await insertIdentity(server.app.db, { user_id: user.id, ...identity }, new Date())
    const { fragment } = landing(await open(server.app, toNew))
    assert.equal(fragment.error_code, 'email_exists')
  })

  test('one wanted by two at once goes to one of them', async () => {
    const server = await servers()
    const wanted = newAddress('both')
    const people = await Promise.all([confirmedPerson(server), confirmedPerson(server)])
    const links: ReceivedMail[] = []
    for (const { access_token: token, user } of people) {
      const since = server.mail.messages.length
      assert.equal((await put(server, token, { email: wanted })).statusCode, 200)
      links.push(await nextMail(server, wanted, since))
      await open(server.app, await nextMail(server, user.email, since))
    }
    const landings = await Promise.all(links.map((message) => open(server.app, message)))
    const results = landings.map((response) => landing(response).fragment)
    assert.equal(results.filter(({ type }) => type === 'email_change').length, 1)
    assert.equal(results.filter(({ error_code }) => error_code === 'email_exists').length, 1)
  })

  test("one's own address, in any spelling, is no change", async () => {
    const server = await servers()
    const { access_token: token, user } = await confirmedPerson(server)
    const since = server.mail.messages.length
    const response = await put(server, token, { email: user.email.toUpperCase() })
    assert.equal(response.statusCode, 200)
    assert.equal(response.json<User>().new_email, undefined)
    await idle(server)
    assert.equal(server.mail.messages.length, since)
  })

  test('ten racing answers of both mailboxes change it once', async () => {
    const change = await ask(await servers())
    const { app } = change.server
    const all = Array.from({ length: 10 }, (_, i) => (i % 2 ? change.toNew : change.toCurrent))
    const landings = (await Promise.all(all.map((message) => open(app, message)))).map(landing)
    assert.equal(landings.filter(({ fragment }) => fragment.message).length, 1)
    assert.equal(landings.filter(({ fragment }) => fragment.access_token).length, 1)
    assert.equal(await addressOf(change), change.wanted)
  })
})
