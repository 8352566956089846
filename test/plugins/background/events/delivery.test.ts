/** Delivery of events: signed, at least once, in order for each user, also with failing endpoints. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import type { StoredDeliveryResponse } from '../../../../db/tables/messages.ts'
import { sendEvent } from '../../../../plugins/background/events/send.ts'
import { adminCall, asAdmin } from '../../../support/admin.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { until } from '../../../support/processes/until.ts'
import { changeUser } from '../../../support/requests.ts'
import { type App, build } from '../../../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../../../support/users.ts'
import { vendorServer } from '../../../support/vendor-server.ts'
import { allEvents, typesIn } from '../../../support/webhooks/events.ts'
import {
  type Reaction,
  webhookEnv,
  webhookReceiver,
  webhookSecret,
} from '../../../support/webhooks/webhook-receiver.ts'

type Receiver = Awaited<ReturnType<typeof webhookReceiver>>

suite('webhook delivery', () => {
  const ending = endingOfSuite()
  let app: App
  let receiver: Receiver
  let stubborn: Receiver
  before(async () => {
    receiver = await webhookReceiver(ending)
    stubborn = await webhookReceiver(ending)
    const env = {
      ...autoconfirm,
      ...webhookEnv(receiver, stubborn),
      AUTH_DB_MAX_POOL_SIZE: '20',
      // For the endpoint that hangs; all others respond immediately, however slow the machine.
      AUTH_INTERNAL_HTTP_TIMEOUT: '3s',
    }
    app = (await build(ending, { env })).app
  })

  /** What waits for another attempt is due now. */
  const hurry = () =>
    sql`update auth.postern_webhook_deliveries set due_at = now() where leased_until is null`.execute(
      app.db,
    )
  const wake = () =>
    sql`update auth.postern_webhooks set failures = 0, retry_at = null, state = 'active'`.execute(
      app.db,
    )

  test('sends each event as a signed POST with its stream id', async () => {
    const { user } = await signUpUser(app)
    const events = await allEvents(app, user.id, 3)
    await until(() => receiver.ofUser(user.id).length === 3)
    assert.deepEqual(
      receiver
        .ofUser(user.id)
        .map(({ id, type, timestamp, data }) => ({ id, type, timestamp, data })),
      events.map(({ position: _, ...event }) => event),
    )
    assert.deepEqual(receiver.rejected, [])
  })

  test('delays later events of a user after a failed one, but not those of other users', async () => {
    const { user, access_token } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 3)
    let rejections = 2
    const isRejected = (type: string, id: unknown) => type === 'user.updated' && id === user.id
    receiver.react = ({ type, data }) =>
      isRejected(type, data.user_id) && rejections-- > 0 ? 500 : 204
    await changeUser(app, access_token, { data: { round: 1 } })
    await signedIn(app, user.email)
    const { user: other } = await signUpUser(app)
    await until(() => receiver.ofUser(other.id).length === 3)
    assert.deepEqual(typesIn(receiver.ofUser(user.id)).slice(3), ['user.updated'])

    for (const attempts of [2, 3]) {
      await hurry()
      await until(() => receiver.ofUser(user.id).length > attempts + 2)
    }
    await until(() => receiver.ofUser(user.id).length === 7)
    const again = receiver.ofUser(user.id).slice(3)
    assert.deepEqual(typesIn(again), [
      'user.updated',
      'user.updated',
      'user.updated',
      'user.signed_in',
    ])
    assert.equal(new Set(again.slice(0, 3).map(({ id, body }) => id + body)).size, 1)
    receiver.react = () => 204
  })

  const reactions: Record<
    string,
    { reaction: Reaction; expected: Partial<StoredDeliveryResponse> | RegExp }
  > = {
    'an error': { reaction: 500, expected: { status: 500 } },
    'a client error': {
      reaction: { status: 400, headers: {}, body: 'no\0 such thing' },
      expected: { status: 400, body: 'no such thing' },
    },
    'a multi-byte character cut at the stored limit': {
      reaction: { status: 400, headers: {}, body: `${'x'.repeat(1023)}😀` },
      expected: { status: 400, body: `${'x'.repeat(1023)}\ufffd` },
    },
    'a redirect': {
      reaction: { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      expected: /redirect/,
    },
    'a dropped connection': { reaction: 'drop', expected: /./ },
    // By our own deadline: the connection’s deadline is longer than a lease.
    silence: { reaction: 'hang', expected: /aborted due to timeout/ },
    'a response of two megabytes': {
      reaction: { status: 200, headers: {}, body: 'x'.repeat(2_000_000) },
      expected: /longer than/,
    },
  }
  for (const [name, { reaction, expected }] of Object.entries(reactions)) {
    test(`retries after ${name} and stores the response`, async () => {
      await wake()
      let isFirst = true
      const { user } = await signUpUser(app)
      await until(() => receiver.ofUser(user.id).length === 3)
      receiver.react = ({ data }) => {
        if (data.user_id !== user.id || !isFirst) return 204
        isFirst = false
        return reaction
      }
      await signedIn(app, user.email)
      const responded = async () => {
        const rows = await selectDeliveries(app, user.id, receiver.url)
        return rows.find(
          ({ attempts, answer: response }) => attempts === 1 && response && response.status !== 204,
        )?.answer
      }
      await until(async () => (await responded()) !== undefined)
      const response = await responded()
      if (expected instanceof RegExp) assert.match(response?.error ?? '', expected)
      else {
        for (const [key, value] of Object.entries(expected)) {
          assert.equal(Object(response)[key], value)
        }
      }
      await wake()
      await hurry()
      await until(() => receiver.ofUser(user.id).length === 5)
      const [first, second] = receiver.ofUser(user.id).slice(3)
      assert.equal(first?.id, second?.id)
      receiver.react = () => 204
    })
  }

  test('honours Retry-After and pauses the webhook on 410', async () => {
    await wake()
    stubborn.react = () => ({ status: 429, headers: { 'retry-after': '120' } })
    await signUpUser(app)
    await until(
      async () =>
        ((await endpoint(app, stubborn.url)).retry_at?.getTime() ?? 0) > Date.now() + 60_000,
    )
    stubborn.react = () => 410
    await wake()
    await hurry()
    await until(async () => (await endpoint(app, stubborn.url)).state === 'paused')
    const { reason, id } = await endpoint(app, stubborn.url)
    assert.match(reason ?? '', /410/)
    stubborn.react = () => 204
    await hurry()
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 3)
    assert.equal(stubborn.ofUser(user.id).length, 0)
    await adminCall(app, 'PUT', `/admin/webhooks/${id}`, { state: 'active' })
    await until(() => stubborn.ofUser(user.id).length === 3)
  })

  test('limits Retry-After to an hour', async (t) => {
    const { url } = await vendorServer(t, { status: 503, headers: { 'retry-after': '86400' } })
    const sent = await sendEvent(
      app,
      { url, secrets: [webhookSecret] },
      { id: 'event', body: '{}' },
    )
    assert.deepEqual([sent.accepted, sent.retryAfterMs], [false, 3600_000])
  })

  test('gives up three days after the first attempt, and sends again by replay', async () => {
    await wake()
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 3)
    receiver.react = ({ data }) => (data.user_id === user.id ? 500 : 204)
    await signedIn(app, user.email)
    await until(() => receiver.ofUser(user.id).length === 4)
    await until(async () =>
      (await selectDeliveries(app, user.id, receiver.url)).some(
        ({ state, answer: response }) => state === 'waiting' && response,
      ),
    )
    const firstAttempted = (hoursAgo: number) =>
      sql`update auth.postern_webhook_deliveries
        set first_attempt_at = now() - ${`${hoursAgo} hours`}::interval
        where state = 'waiting'`.execute(app.db)
    await firstAttempted(71)
    await wake()
    await hurry()
    await until(() => receiver.ofUser(user.id).length === 5)
    await firstAttempted(73)
    await wake()
    await hurry()
    const dead = async () =>
      (await selectDeliveries(app, user.id, receiver.url)).filter(({ state }) => state === 'dead')
    await until(async () => (await dead()).length === 1)

    receiver.react = () => 204
    const { id } = await endpoint(app, receiver.url)
    const replayed = await adminCall<{ queued: number }>(
      app,
      'POST',
      `/admin/webhooks/${id}/replay`,
      { dead: true },
    )
    assert.equal(replayed.queued, 1)
    await until(() => receiver.ofUser(user.id).length === 7)
    assert.equal(new Set(receiver.ofUser(user.id).map((event) => event.id)).size, 4)
    assert.equal((await dead()).length, 0)
  })

  test('sends an event of a dead worker again after its lease', async () => {
    await wake()
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 3)
    receiver.react = ({ data }) => (data.user_id === user.id ? 500 : 204)
    await signedIn(app, user.email)
    await until(() => receiver.ofUser(user.id).length === 4)
    const repeated = Promise.withResolvers<Date>()
    receiver.react = ({ data }) => {
      if (data.user_id === user.id) repeated.resolve(new Date())
      return 204
    }
    await until(async () =>
      (await selectDeliveries(app, user.id, receiver.url)).every(
        ({ state, answer: response }) => state !== 'waiting' || response,
      ),
    )
    const { rows } = await sql<{ until: Date }>`
      update auth.postern_webhook_deliveries set due_at = now(), leased_until = now() + interval '2 seconds'
      where state = 'waiting' returning leased_until as until`.execute(app.db)
    await wake()
    assert.ok((await repeated.promise) >= (rows[0]?.until ?? assert.fail()))
    receiver.react = () => 204
  })
})

test('a webhook that hangs does not delay other webhooks', async (t) => {
  const receiver = await webhookReceiver(t)
  const stubborn = await webhookReceiver(t)
  const env = { ...webhookEnv(receiver, stubborn), AUTH_INTERNAL_HTTP_TIMEOUT: '10m' }
  const { app } = await build(t, { env: { ...autoconfirm, ...env } })
  stubborn.react = () => 'hang'
  for (let round = 0; round < 3; round++) {
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 3)
  }
  // The first of them still waits.
  assert.ok(stubborn.received.length > 0)
})

test('sends each event once and in order per user on two replicas', async (t) => {
  const receiver = await webhookReceiver(t)
  const env = { ...autoconfirm, ...webhookEnv(receiver) }
  const { app, database } = await build(t, { env })
  const { app: twin } = await build(t, { env: { ...env, DATABASE_URL: database.url } })
  const users = await Promise.all(Array.from({ length: 6 }, () => signUpUser(app)))
  await Promise.all(
    users.map(async ({ user, access_token }) => {
      for (let round = 0; round < 4; round++) {
        await changeUser(round % 2 ? app : twin, access_token, { data: { round } })
      }
      await signedIn(twin, user.email)
    }),
  )
  await until(() => receiver.received.length >= 6 * 8)
  for (const { user } of users) {
    const stream = await allEvents(app, user.id, 8)
    assert.deepEqual(
      receiver.ofUser(user.id).map(({ id }) => id),
      stream.map(({ id }) => id),
    )
  }
})

test('rejects a webhook at a private address unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is set', async (t) => {
  const receiver = await webhookReceiver(t)
  const url = receiver.url.replace('http:', 'https:')
  const { AUTH_WEBHOOK_PRIVATE_ADDRESSES: _, ...env } = webhookEnv({ url })
  const { app } = await build(t, { env: { ...autoconfirm, ...env } })
  const { user } = await signUpUser(app)
  await until(async () =>
    (await selectDeliveries(app, user.id, url)).some(({ answer: response }) => response?.error),
  )
  const [{ answer: response } = { answer: null }] = await selectDeliveries(app, user.id, url)
  assert.match(response?.error ?? '', /not public/)
  assert.deepEqual(receiver.received, [])
  for (const own of [url, 'https://10.0.0.1/', 'http://hooks.example/']) {
    const made = await asAdmin(app, 'POST', '/admin/webhooks', { url: own })
    assert.equal(made.statusCode, 400, made.body)
    assert.match(made.json().msg, /AUTH_WEBHOOK_PRIVATE_ADDRESSES/)
  }
})

function endpoint(app: App, url: string) {
  return app.db
    .selectFrom('postern_webhooks')
    .selectAll()
    .where('url', '=', url)
    .executeTakeFirstOrThrow()
}

function selectDeliveries(app: App, userId: string, url: string) {
  return app.db
    .selectFrom('postern_webhook_deliveries as delivery')
    .innerJoin('postern_webhooks as webhook', 'webhook.id', 'delivery.webhook_id')
    .select(['delivery.state', 'delivery.attempts', 'delivery.answer', 'delivery.position'])
    .where('webhook.url', '=', url)
    .where('delivery.lane', '=', userId)
    .orderBy('delivery.position')
    .execute()
}
