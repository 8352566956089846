/** Each event type, in the transaction of its cause and in the form of the API document. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'

import { moveToDeadLetter } from '../../../../db/emails/dead-letters.ts'
import { eventTypes } from '../../../../schemas/events.ts'
import { adminCall, asAdmin } from '../../../support/admin.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { call, changeUser, getUser, refresh } from '../../../support/requests.ts'
import type { App } from '../../../support/server.ts'
import { watchStatements } from '../../../support/statements.ts'
import {
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signIn,
  signUp,
  signUpUser,
} from '../../../support/users.ts'
import { allEvents, type Streamed, typesIn } from '../../../support/webhooks/events.ts'

const on = { ...autoconfirm, AUTH_EVENTS_ENABLED: 'true' }

suite('events', () => {
  const serverFor = sharedServers()
  let app: App
  before(async () => {
    app = (await serverFor(on)).app
  })

  test('sign-up emits user.created, email.confirmed and user.signed_in', async () => {
    const { user } = await signUpUser(app)
    const events = await allEvents(app, user.id, 3)
    assert.deepEqual(typesIn(events), ['user.created', 'email.confirmed', 'user.signed_in'])
    const [created, , signed] = events
    const shown = created?.data.user
    assert.deepEqual([shown?.id, shown?.email, shown?.role], [user.id, user.email, 'authenticated'])
    assert.equal(signed?.data.method, 'password')
    assert.ok(!JSON.stringify(events).includes('$argon2'))
  })

  test('failed sign-in, refresh and reads emit nothing', async () => {
    const { user, refresh_token, ...session } = await signUpUser(app)
    await signIn(app, { email: user.email, password: 'not this one' })
    await refresh(app, refresh_token)
    await getUser(app, session)
    const { user: marker } = await signUpUser(app)
    await allEvents(app, marker.id, 3)
    assert.equal((await allEvents(app, user.id, 3)).length, 3)
  })

  test('a rolled-back sign-up emits nothing', async () => {
    const { user } = await signUpUser(app)
    await allEvents(app, user.id, 3)
    const before = await total(app)
    assert.equal((await signUp(app, { email: user.email })).statusCode, 400)
    const { user: marker } = await signUpUser(app)
    await allEvents(app, marker.id, 3)
    assert.equal(await total(app), before + 3)
  })

  test('metadata change, password change and logout emit their events', async () => {
    const { user, access_token } = await signUpUser(app)
    await signedIn(app, user.email)
    await changeUser(app, access_token, { data: { city: 'Bonn' } })
    await changeUser(app, access_token, { password: `another ${password}` })
    await call(app, '/logout', {}, { token: access_token })
    const events = (await allEvents(app, user.id, 10)).slice(4)
    assert.deepEqual(typesIn(events), [
      'user.updated',
      'session.revoked',
      'password.changed',
      'user.updated',
      'user.signed_out',
      'session.revoked',
    ])
    assert.deepEqual(events[0]?.data.user?.user_metadata.city, 'Bonn')
    // A request has one time for all of its events.
    const changed = events.slice(1, 4).map(({ timestamp }) => timestamp)
    assert.equal(new Set(changed).size, 1, changed.join())
  })

  test('refresh token reuse emits session.revoked and refresh_token.reuse_detected', async () => {
    const { user, refresh_token } = await signUpUser(app)
    const first = await refresh(app, refresh_token)
    await refresh(app, first.json().refresh_token)
    assert.equal((await refresh(app, refresh_token)).statusCode, 400)
    const events = (await allEvents(app, user.id, 5)).slice(3)
    assert.deepEqual(typesIn(events), ['session.revoked', 'refresh_token.reuse_detected'])
    assert.equal(events[0]?.data.session_id, events[1]?.data.session_id)
  })

  test('admin changes, ban and unban emit their events', async () => {
    const { id } = await adminCall(app, 'POST', '/admin/users', { email: newAddress() })
    const put = (change: object) => adminCall(app, 'PUT', `/admin/users/${id}`, change)
    await put({ ban_duration: '1h' })
    await put({ ban_duration: 'none' })
    await put({ email: newAddress(), email_confirm: true, password })
    await adminCall(app, 'DELETE', `/admin/users/${id}`)
    const events = await allEvents(app, id, 10)
    assert.deepEqual(typesIn(events), [
      'user.created',
      'user.banned',
      'user.updated',
      'user.unbanned',
      'user.updated',
      'email.confirmed',
      'password.changed',
      'email.changed',
      'user.updated',
      'user.deleted',
    ])
    assert.equal(events.at(-1)?.data.soft, false)
  })

  test('signing key rotation emits an event without a user', async () => {
    const { keys } = await adminCall<{ keys: { kid: string }[] }>(app, 'POST', '/admin/keys', {
      action: 'rotate',
    })
    const [event] = await allEvents(app, undefined, 1, 'signing_key.rotated')
    const actor = { id: null, role: 'service_role', type: 'service' }
    assert.deepEqual(event?.data, { user_id: null, kid: keys.at(-1)?.kid, actor })
  })

  test('the stream is paged by cursor, filtered by type and limited to admins', async () => {
    const { user } = await signUpUser(app)
    await allEvents(app, user.id, 3)
    const page = async (query: string) =>
      adminCall<Stream>(app, 'GET', `/admin/events?user_id=${user.id}${query}`)
    const first = await page('&limit=2')
    assert.deepEqual([first.events.length, first.has_more], [2, true])
    const second = await page(`&limit=2&after=${first.next}`)
    assert.deepEqual(typesIn(second.events), ['user.signed_in'])
    const end = await page(`&after=${second.next}`)
    assert.deepEqual(end, { events: [], next: second.next, has_more: false })
    assert.deepEqual(typesIn((await page('&type=user.created')).events), ['user.created'])
    assert.equal((await asAdmin(app, 'GET', '/admin/events?after=x')).statusCode, 400)
  })

  test('recording events adds no round trips', async () => {
    const { email, refresh_token } = await signUpUser(app)
    // The server looks for events to be sent at the same time, in tables of its own.
    const ofRequests = /"(users|sessions|postern_throttles)"/
    const count = async (act: () => Promise<unknown>) =>
      (await watchStatements(app, act)).filter((text) => ofRequests.test(text)).length
    assert.equal(await count(() => signedIn(app, email)), 3)
    assert.equal(await count(() => refresh(app, refresh_token)), 1)
  })

  test('docs/webhooks.md lists each event type', () => {
    const page = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8')
    const reported = [...page.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(
      ([, names = '']) => names.match(/[a-z_]+\.[a-z_]+/g) ?? [],
    )
    assert.deepEqual(reported.toSorted(), eventTypes.toSorted())
  })

  test('a dead-lettered email emits an event', async () => {
    const mail = { id: crypto.randomUUID(), attempts: 0 }
    const now = new Date()
    const row = { ...mail, kind: 'recovery', payload: '', created_at: now, updated_at: now }
    await app.db
      .insertInto('postern_mail_messages')
      .values({ ...row, state: 'queued', reason: null, expires_at: null, sent_at: null })
      .execute()
    const dead = {
      reason: 'no such mailbox',
      outcome: null,
      keepPayload: false,
      emitEvent: app.events.enabled,
    }
    await moveToDeadLetter(app.db, mail, dead, now)
    const [event] = await allEvents(app, undefined, 1, 'email.dead_lettered')
    const { message_id, kind, reason } = event?.data ?? {}
    assert.deepEqual([message_id, kind, reason], [mail.id, 'recovery', 'no such mailbox'])
  })

  test('returns feature_disabled and stores nothing while events are disabled', async () => {
    const { app: quiet } = await serverFor(autoconfirm)
    const { user, access_token } = await signUpUser(quiet)
    const output = await watchStatements(quiet, async () => {
      await signedIn(quiet, user.email)
      await changeUser(quiet, access_token, { data: { a: 1 }, password: `other ${password}` })
    })
    assert.deepEqual(
      output.filter((text) => text.includes('postern_event')),
      [],
    )
    const response = await asAdmin(quiet, 'GET', '/admin/events')
    assert.deepEqual([response.statusCode, response.json().error_code], [404, 'feature_disabled'])
    const made = await asAdmin(quiet, 'POST', '/admin/webhooks', { url: 'https://a.example' })
    assert.equal(made.json().error_code, 'feature_disabled')
  })
})

interface Stream {
  events: Streamed[]
  next: number
  has_more: boolean
}

async function total(app: App): Promise<number> {
  const row = await app.db
    .selectFrom('postern_events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}
