/** Webhook endpoints managed by admins. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'
import { Webhook as Verifier } from 'standardwebhooks'

import { findWebhook, recordWebhookFailure } from '../../../../db/events/webhooks.ts'
import { deliverBatch } from '../../../../plugins/background/events/batch.ts'
import { rotateSecret } from '../../../../plugins/background/events/endpoints.ts'
import { listWebhookSecrets } from '../../../../plugins/background/events/secrets.ts'
import type { Delivery, Webhook } from '../../../../schemas/webhook.ts'
import { adminCall, asAdmin } from '../../../support/admin.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { until } from '../../../support/processes/until.ts'
import { type App, build } from '../../../support/server.ts'
import { autoconfirm, signUpUser } from '../../../support/users.ts'
import {
  webhookEnv,
  webhookReceiver,
  webhookSecret,
} from '../../../support/webhooks/webhook-receiver.ts'

type Receiver = Awaited<ReturnType<typeof webhookReceiver>>
type Made = Webhook & { secret: string }

const path = '/admin/webhooks'

suite('/admin/webhooks', () => {
  const ending = endingOfSuite()
  let app: App
  let receiver: Receiver
  let fromEnvironment: string
  before(async () => {
    receiver = await webhookReceiver(ending)
    const other = await webhookReceiver(ending)
    const env = { ...autoconfirm, ...webhookEnv(other) }
    app = (await build(ending, { env })).app
    const { webhooks } = await adminCall<{ webhooks: Webhook[] }>(app, 'GET', path)
    fromEnvironment = webhooks.find(({ source }) => source === 'environment')?.id ?? ''
  })

  const make = (more: object = {}) =>
    adminCall<Made>(app, 'POST', path, { url: receiver.url, secret: webhookSecret, ...more })

  test('shows the secret once and stores it encrypted', async () => {
    const made = await adminCall<Made>(app, 'POST', path, {
      url: receiver.url,
      events: ['user.deleted'],
    })
    assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const listed = await asAdmin(app, 'GET', path)
    assert.ok(!listed.body.includes(made.secret.slice(6)))
    const row = await app.db
      .selectFrom('postern_webhooks')
      .selectAll()
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow()
    assert.ok(row.secrets.includes('aes-gcm') && !row.secrets.includes(made.secret.slice(6)))
    assert.equal((await asAdmin(app, 'DELETE', `${path}/${made.id}`)).statusCode, 204)
    assert.equal((await asAdmin(app, 'GET', `${path}/${made.id}`)).statusCode, 404)
  })

  test('sends selected events only', async () => {
    const { id } = await make({ events: ['email.confirmed'] })
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length > 0)
    const { user: next } = await signUpUser(app)
    await until(() => receiver.ofUser(next.id).length > 0)
    assert.deepEqual(
      receiver.ofUser(user.id).map(({ type }) => type),
      ['email.confirmed'],
    )
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('queues events while paused and sends them when active again', async () => {
    const { id } = await make({ events: ['user.created'] })
    await adminCall(app, 'PUT', `${path}/${id}`, { state: 'paused' })
    const { user } = await signUpUser(app)
    await until(async () => (await listDeliveries(id)).length === 1)
    assert.deepEqual(receiver.ofUser(user.id), [])
    await adminCall(app, 'PUT', `${path}/${id}`, { state: 'active' })
    await until(() => receiver.ofUser(user.id).length === 1)
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('shows a delivery with request and response', async () => {
    receiver.react = () => ({ status: 202, headers: {}, body: 'thank you' })
    const { id } = await make({ events: ['user.created'] })
    const { user } = await signUpUser(app)
    await until(async () => (await listDeliveries(id)).some(({ state }) => state === 'delivered'))
    const [delivery] = await listDeliveries(id, '?state=delivered')
    const [event] = receiver.ofUser(user.id)
    assert.deepEqual(
      [delivery?.event_id, delivery?.type, delivery?.attempts],
      [event?.id, 'user.created', 1],
    )
    assert.deepEqual(delivery?.request.body, JSON.parse(event?.body ?? ''))
    assert.deepEqual([delivery?.answer?.status, delivery?.answer?.body], [202, 'thank you'])
    assert.equal((await listDeliveries(id, '?state=dead')).length, 0)
    receiver.react = () => 204
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('signs with both secrets during a rotation, then with the new one', async () => {
    const { id } = await make({ events: ['user.created'] })
    const rotated = await adminCall<Made>(app, 'POST', `${path}/${id}/rotate_secret`)
    assert.notEqual(rotated.secret, webhookSecret)
    const { user } = await signUpUser(app)
    await until(() => receiver.ofUser(user.id).length === 1)
    const [event] = receiver.ofUser(user.id)
    const headers = Object.fromEntries(
      Object.entries(event?.headers ?? {}).map(([k, v]) => [k, String(v)]),
    )
    assert.equal(headers['webhook-signature']?.split(' ').length, 2)
    for (const secret of [webhookSecret, rotated.secret]) {
      assert.doesNotThrow(() => new Verifier(secret).verify(event?.body ?? '', headers))
    }
    await adminCall(app, 'POST', `${path}/${id}/rotate_secret`, {
      overlap: 0,
      secret: webhookSecret,
    })
    const { user: next } = await signUpUser(app)
    await until(() => receiver.ofUser(next.id).length === 1)
    const [last] = receiver.ofUser(next.id)
    assert.equal(String(last?.headers['webhook-signature']).split(' ').length, 1)
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('expires rotated secrets on time and signs with five at most', async () => {
    const { id } = await make()
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000)
    const rotate = (overlapSeconds: number, secret?: string) =>
      app.db
        .transaction()
        .execute((trx) =>
          rotateSecret(app, trx, id, { overlapSeconds, ...(secret && { secret }) }, at(0)),
        )
    const signing = async (seconds: number) => {
      const webhook = await findWebhook(app.db, id)
      return listWebhookSecrets(app, webhook ?? assert.fail(), at(seconds))
    }
    const { secret: second } = await rotate(60)
    const { secret: third } = await rotate(3600)
    assert.deepEqual(await signing(0), [third, second, webhookSecret])
    assert.deepEqual(await signing(61), [third, second])
    assert.deepEqual(await signing(3601), [third])

    for (let time = 0; time < 4; time++) await rotate(3600)
    assert.equal((await signing(0)).length, 5)
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('sends a test event immediately and returns the response', async () => {
    const { id } = await make()
    const sent = await adminCall<Tested>(app, 'POST', `${path}/${id}/test`)
    assert.deepEqual(
      [sent.accepted, sent.answer.status, sent.request.body.type],
      [true, 204, 'webhook.test'],
    )
    assert.equal((await receiver.next('webhook.test')).data.webhook_id, id)
    await adminCall(app, 'PUT', `${path}/${id}`, { url: 'http://127.0.0.1:1/' })
    const failed = await adminCall<Tested>(app, 'POST', `${path}/${id}/test`)
    assert.deepEqual([failed.accepted, failed.answer.status], [false, null])
    assert.ok(failed.answer.error)
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('replays earlier events by id or time', async () => {
    const since = new Date().toISOString()
    const { user } = await signUpUser(app)
    const stream = () =>
      adminCall<{ events: { id: string }[] }>(app, 'GET', `/admin/events?user_id=${user.id}`)
    await until(async () => (await stream()).events.length === 3)
    const [first] = (await stream()).events
    const { id } = await make({ events: ['user.created', 'email.confirmed'] })
    const replay = (body: object) =>
      adminCall<{ queued: number }>(app, 'POST', `${path}/${id}/replay`, body)
    assert.equal((await replay({ events: [first?.id] })).queued, 1)
    await until(() => receiver.ofUser(user.id).length === 1)
    assert.equal(receiver.ofUser(user.id)[0]?.id, first?.id)
    assert.equal((await replay({ since })).queued, 2)
    await until(() => receiver.ofUser(user.id).length === 3)
    for (const body of [
      {},
      { since: '2016-12-31T23:59:60Z' },
      { since, until: '1990-12-31T23:59:60Z' },
    ]) {
      assert.equal((await asAdmin(app, 'POST', `${path}/${id}/replay`, body)).statusCode, 400)
    }
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  test('continues a replay where the previous one stopped', async () => {
    const { id } = await make()
    await asAdmin(app, 'PUT', `${path}/${id}`, { state: 'paused' })
    await sql`insert into auth.postern_events (id, type, data, created_at)
      select gen_random_uuid(), 'user.created', '{}', '2999-01-01' from generate_series(1, 10001)`.execute(
      app.db,
    )
    const replay = (after?: number) =>
      adminCall<{ queued: number; next: number | null }>(
        app,
        'POST',
        `${path}/${id}/replay`,
        after === undefined ? { since: '2999-01-01T00:00:00Z' } : { after },
      )
    const first = await replay()
    assert.equal(first.queued, 10_000)
    assert.deepEqual(await replay(first.next ?? undefined), { queued: 1, next: null })
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  const rejected: Record<string, object> = {
    'no address': { url: 'hooks' },
    'another scheme': { url: 'ftp://hooks.example' },
    'a password in the address': { url: 'https://a:b@hooks.example' },
    'an unknown event': { url: 'https://hooks.example', events: ['user.exploded'] },
    'a short secret': { url: 'https://hooks.example', secret: 'whsec_c2hvcnQ=' },
    'no url': {},
  }
  for (const [name, body] of Object.entries(rejected)) {
    test(`rejects ${name}`, async () => {
      const response = await asAdmin(app, 'POST', path, body)
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [400, 'validation_failed'],
      )
    })
  }

  test('validates a change like a new webhook', async () => {
    const { id } = await make({ url: 'https://hooks.example' })
    for (const url of ['hooks', 'ftp://hooks.example', 'https://a:b@hooks.example']) {
      const response = await asAdmin(app, 'PUT', `${path}/${id}`, { url })
      assert.equal(response.statusCode, 400, response.body)
    }
    const { url } = await adminCall<Webhook>(app, 'GET', `${path}/${id}`)
    assert.equal(url, 'https://hooks.example')
    await asAdmin(app, 'DELETE', `${path}/${id}`)
  })

  const silent: Record<string, (id: string) => Promise<unknown>> = {
    paused: (id) => adminCall(app, 'PUT', `${path}/${id}`, { state: 'paused' }),
    resting: (id) => recordWebhookFailure(app.db, id, new Date(Date.now() + 3600_000)),
    'without a secret, as on another replica': (id) =>
      app.db
        .updateTable('postern_webhooks')
        .set({ source: 'environment' })
        .where('id', '=', id)
        .execute(),
  }
  for (const [state, set] of Object.entries(silent)) {
    test(`${state}: stops a running delivery`, async () => {
      const { id } = await make()
      await set(id)
      const rejected = receiver.rejected.length
      const { user } = await signUpUser(app)
      await until(async () => (await listDeliveries(id)).length === 3)
      assert.equal(await deliverBatch(app, id), false)
      assert.deepEqual([receiver.ofUser(user.id), receiver.rejected.length], [[], rejected])
      await app.db.deleteFrom('postern_webhooks').where('id', '=', id).execute()
    })
  }

  test('allows pausing a configured webhook but no other change', async () => {
    const url = `${path}/${fromEnvironment}`
    for (const [method, to, body] of [
      ['PUT', url, { url: 'https://hooks.example' }],
      ['DELETE', url, undefined],
      ['POST', `${url}/rotate_secret`, {}],
    ] as const) {
      const response = await asAdmin(app, method, to, body)
      assert.equal(response.statusCode, 422, response.body)
      assert.match(response.json().msg, /AUTH_WEBHOOK_ENDPOINTS/)
    }
    assert.equal((await adminCall<Webhook>(app, 'PUT', url, { state: 'paused' })).state, 'paused')
  })

  test('returns 404 for an unknown id', async () => {
    const unknownId = `${path}/${crypto.randomUUID()}`
    for (const [method, to, body] of [
      ['GET', unknownId],
      ['PUT', unknownId, {}],
      ['DELETE', unknownId],
      ['GET', `${unknownId}/deliveries`],
      ['POST', `${unknownId}/test`],
      ['POST', `${unknownId}/rotate_secret`],
      ['POST', `${unknownId}/replay`, { dead: true }],
    ] as const) {
      const response = await asAdmin(app, method, to, body)
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [404, 'webhook_not_found'],
        to,
      )
    }
  })

  async function listDeliveries(id: string, query = ''): Promise<Delivery[]> {
    const page = await adminCall<{ deliveries: Delivery[] }>(
      app,
      'GET',
      `${path}/${id}/deliveries${query}`,
    )
    return page.deliveries
  }
})

interface Tested {
  accepted: boolean
  request: Delivery['request']
  answer: NonNullable<Delivery['answer']>
}
