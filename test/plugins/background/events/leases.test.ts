/** Leases and outcomes of deliveries, by statements alone. */
import assert from 'node:assert/strict'
import { before, beforeEach, suite, test } from 'node:test'

import type pg from 'pg'

import { createDb, type Db } from '../../../../db/core/database.ts'
import { leaseDeliveries, recordAttempts } from '../../../../db/events/deliveries.ts'
import { assignPositions } from '../../../../db/events/events.ts'
import { deleteOrphanDeliveries, replayDeliveries } from '../../../../db/events/history.ts'
import { insertEvents } from '../../../../db/events/outbox.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  recordWebhookFailure,
  resumeWebhook,
  updateWebhook,
} from '../../../../db/events/webhooks.ts'
import { getWebhookRetryDelay, restDelay } from '../../../../plugins/background/events/batch.ts'
import {
  environmentId,
  syncEnvironment,
} from '../../../../plugins/background/events/environment.ts'
import { testConfig } from '../../../support/config.ts'
import { cloneDatabase, openPool } from '../../../support/database.ts'
import { lockRows } from '../../../support/locked-user.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { webhookSecret } from '../../../support/webhooks/webhook-receiver.ts'

const now = new Date('2026-05-01T12:00:00Z')
const minutes = (count: number) => new Date(now.getTime() + count * 60_000)
const [ann, ben] = [crypto.randomUUID(), crypto.randomUUID()]
const response = { status: 500, body: '', error: null, duration_ms: 1 }

suite('webhook delivery leases', () => {
  const ending = endingOfSuite()
  let db: Db
  let pool: pg.Pool
  let [one, other] = ['', '']
  before(async () => {
    pool = openPool({ connectionString: (await cloneDatabase(ending)).url })
    ending.after(() => pool.end())
    db = createDb(pool, 'auth')
  })
  beforeEach(async () => {
    const made = [crypto.randomUUID(), crypto.randomUUID()]
    for (const id of made) {
      const settings = { description: '', events: [], secrets: '' }
      const webhook = { ...settings, id, source: 'api' as const, url: `https://${id}.example` }
      await insertWebhook(db, webhook, now)
    }
    ;[one = '', other = ''] = made
  })

  /** An event about a user that is to be sent to these webhooks; its position. */
  async function event(lane: string, webhooks = [one], change: object = {}): Promise<number> {
    const { position } = await db
      .insertInto('postern_events')
      .values({ id: crypto.randomUUID(), type: 'user.updated', data: '{}', created_at: now })
      .returning('position')
      .executeTakeFirstOrThrow()
    const waits = { position, lane, state: 'waiting', due_at: now, ...change } as const
    const rows = webhooks.map((webhook_id) => ({ ...waits, webhook_id }))
    await db.insertInto('postern_webhook_deliveries').values(rows).execute()
    return position
  }

  async function findIds(...positions: number[]): Promise<string[]> {
    const found = db.selectFrom('postern_events').select('id').where('position', 'in', positions)
    return (await found.execute()).map(({ id }) => id)
  }

  const claim = (from: Db = db, at = now, limit = 20) =>
    leaseDeliveries(from, { webhookId: one, limit, leasedUntil: minutes(1), now: at })
  const claimed = async (...asked: Parameters<typeof claim>) =>
    (await claim(...asked)).map(({ position }) => position).toSorted((a, b) => a - b)
  const stored = (position: number, webhookId = one) =>
    db
      .selectFrom('postern_webhook_deliveries')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('position', '=', position)
      .executeTakeFirstOrThrow()

  test('leases the first queued delivery of each user, once per lease', async () => {
    const [first, second, third] = [await event(ann), await event(ann), await event(ben)]
    assert.deepEqual(await claimed(), [first, third])
    assert.deepEqual(await claimed(), [])
    assert.deepEqual(await claimed(db, minutes(1)), [first, third])
    assert.equal((await stored(second)).attempts, 0)
  })

  test('leases no postponed delivery and no later delivery of its user', async () => {
    await event(ann, [one], { due_at: minutes(1) })
    await event(ann)
    assert.deepEqual(await claimed(), [])
  })

  test('ignores delivered and dead deliveries, and those of other webhooks', async () => {
    await event(ann, [one], { state: 'delivered' })
    await event(ann, [one], { state: 'dead' })
    await event(ann, [other])
    const next = await event(ann, [one, other])
    assert.deepEqual(await claimed(), [next])
    assert.equal((await stored(next, other)).leased_until, null)
  })

  test('skips deliveries that another replica is leasing', async () => {
    await event(ann)
    await db.transaction().execute(async (trx) => {
      assert.equal((await claim(trx)).length, 1)
      assert.deepEqual(await claimed(), [])
    })
  })

  test('counts the three days from the first attempt', async () => {
    const position = await event(ann)
    await claim()
    await claim(db, minutes(2))
    const { attempts, first_attempt_at, last_attempt_at } = await stored(position)
    assert.deepEqual([attempts, first_attempt_at, last_attempt_at], [2, now, minutes(2)])
  })

  test('ends the lease by its outcome and ignores outcomes of an earlier lease', async () => {
    const position = await event(ann)
    await claim()
    await claim(db, minutes(2))
    const outcome = { position, due_at: minutes(9), answer: response }
    await recordAttempts(db, one, [{ ...outcome, attempts: 1, state: 'dead' }], now)
    assert.equal((await stored(position)).state, 'waiting')
    await recordAttempts(db, one, [{ ...outcome, attempts: 2, state: 'waiting' }], now)
    const { due_at, leased_until } = await stored(position)
    assert.deepEqual([due_at, leased_until], [minutes(9), null])
  })

  test('makes postponed deliveries due when the webhook succeeds again', async () => {
    const tried = { attempts: 3, due_at: minutes(50) }
    const [waits, theirs] = [await event(ann, [one], tried), await event(ben, [other], tried)]
    await recordWebhookFailure(db, one, minutes(1))
    await resumeWebhook(db, one, now)
    assert.deepEqual((await stored(waits)).due_at, now)
    assert.deepEqual((await stored(theirs, other)).due_at, minutes(50))
    const webhook = await findWebhook(db, one)
    assert.deepEqual([webhook?.failures, webhook?.retry_at], [0, null])
  })

  test('keeps the longest backoff of a webhook until an admin changes it', async () => {
    await recordWebhookFailure(db, one, minutes(60))
    await recordWebhookFailure(db, one, minutes(1))
    assert.deepEqual((await findWebhook(db, one))?.retry_at, minutes(60))
    const { failures, retry_at } = await updateWebhook(db, one, { description: 'mended' }, now)
    assert.deepEqual([failures, retry_at], [0, null])
  })

  test('replay resets dead deliveries of the webhook and leaves queued ones unchanged', async () => {
    const tried = { attempts: 9, first_attempt_at: minutes(-60 * 24 * 4), due_at: minutes(50) }
    const dead = await event(ann, [one], { ...tried, state: 'dead' })
    const waits = await event(ben, [one], tried)
    const theirs = await event(ben, [other], { ...tried, state: 'dead' })
    const sent = await event(ben, [one], { state: 'delivered' })
    const replay = async (from: object) => {
      const requested = { webhookId: one, dead: false, ...from }
      const { queued, found, lastPosition } = await replayDeliveries(db, requested, 9, now)
      return [Number(queued), Number(found), lastPosition]
    }

    assert.deepEqual(await replay({ dead: true }), [1, 1, dead])
    const { state, attempts, first_attempt_at } = await stored(dead)
    assert.deepEqual([state, attempts, first_attempt_at], ['waiting', 0, null])
    const fromThere = await replay({ events: await findIds(dead, waits, theirs, sent) })
    assert.deepEqual(fromThere, [2, 4, sent])
    assert.deepEqual((await stored(waits)).due_at, minutes(50))
  })

  /** Two attempted deliveries, the later one first in the table. */
  async function twoAttempted(): Promise<[first: string, second: string]> {
    const tried = { attempts: 1, due_at: minutes(50) }
    const made = [await event(ann, [one], tried), await event(ben, [one], tried)] as const
    const [first, second] = made.map(String)
    await pool.query(
      'update auth.postern_webhook_deliveries set answer = null where position = $1',
      [first],
    )
    return [first ?? '', second ?? '']
  }

  /** Outcomes of their first attempts, in this order. */
  const record = (...positions: string[]) =>
    recordAttempts(
      db,
      one,
      positions.map((position) => ({
        position: Number(position),
        attempts: 1,
        state: 'dead',
        due_at: now,
        answer: response,
      })),
      now,
    )
  const remove = () =>
    db.transaction().execute(async (trx) => {
      await lockWebhook(trx, one)
      await deleteWebhook(trx, one)
    })
  const locking = 'select from auth.postern_webhook_deliveries where position = $1 for update'

  test('writes deliveries in the order of positions, so that writers do not deadlock', async () => {
    const writers = {
      outcomes: (first: string, second: string) => record(second, first),
      async 'an endpoint that responds again'() {
        await recordWebhookFailure(db, one, now)
        await resumeWebhook(db, one, now)
      },
    }
    for (const [name, write] of Object.entries(writers)) {
      const [first, second] = await twoAttempted()
      const lock = await lockRows(pool, locking, [first])
      const { response: written } = await lock.queue(1, () => write(first, second))
      const [taken] = await Promise.allSettled([lock.query(`${locking} nowait`, [second])])
      await lock.release()
      await written
      assert.equal(taken.status, 'fulfilled', name)
      assert.notDeepEqual((await stored(Number(first))).due_at, minutes(50), name)
    }
  })

  test('cleanup skips a locked delivery without an event', async () => {
    const [first] = await twoAttempted()
    await db.deleteFrom('postern_events').execute()
    await event(ann)
    const lock = await lockRows(pool, locking, [first])
    const cleaned = await lock.queue(1, () => deleteOrphanDeliveries(db, 1000))
    const placeInLine = await Promise.race([cleaned.response, 'waits'])
    await lock.release()
    assert.notEqual(placeInLine, 'waits')
  })

  test('deletes a webhook without holding other locks', async () => {
    const [first, second] = await twoAttempted()
    const lock = await lockRows(pool, locking, [first])
    const { response: removed } = await lock.queue(1, remove)
    const { response: written } = await lock.queue(2, () => record(second, first))
    await lock.release()
    const outcomes = await Promise.allSettled([removed, written])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    assert.equal(await findWebhook(db, one), undefined)
  })

  test('queues an event for other webhooks while one webhook is deleted', async () => {
    const reported = { type: 'user.deleted', user_id: ann, data: {}, with_user: false }
    await insertEvents(db, [{ ...reported, id: crypto.randomUUID() }], now)
    const lock = await lockRows(pool, 'delete from auth.postern_webhooks where id = $1', [one])
    const placing = () => db.transaction().execute((trx) => assignPositions(trx, 10, now))
    const { response: placed } = await lock.queue(1, placing)
    await lock.release()
    assert.equal(Number(await placed), 1)
    const { rows } = await pool.query<{ webhook_id: string }>(
      'select webhook_id from auth.postern_webhook_deliveries where webhook_id = any($1)',
      [[one, other]],
    )
    assert.deepEqual(rows, [{ webhook_id: other }])
  })

  test('replicas with different configured webhooks start concurrently', async () => {
    const url = (name: string) => `https://${name}.example/`
    const start = (...names: string[]) => {
      const endpoints = names.map((name) => ({ url: url(name), secrets: [webhookSecret] }))
      const config = testConfig({ AUTH_WEBHOOK_ENDPOINTS: JSON.stringify(endpoints) })
      return syncEnvironment({ config, db }, now)
    }
    await start('a', 'b', 'c')
    const lock = 'select from auth.postern_webhooks where id = $1 for update'
    const locked = await lockRows(pool, lock, [environmentId(url('c'))])
    const { response: first } = await locked.queue(1, () => start('a', 'c'))
    const { response: second } = await locked.queue(2, () => start('b'))
    await locked.release()
    const outcomes = await Promise.allSettled([first, second])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    const urls = (await listWebhooks(db)).filter(({ source }) => source === 'environment')
    assert.deepEqual(
      urls.map(({ url }) => url),
      [url('b')],
    )
  })
})

test('retries a delivery after 5 s to 1 h and pauses a failing webhook for at most 1 min', () => {
  const delays = [1, 2, 3, 30].map((attempts) => getWebhookRetryDelay(attempts, 0.5))
  assert.deepEqual(delays, [5_000, 10_000, 20_000, 3_600_000])
  const rests = [1, 2, 3, 4, 30].map((failures) => restDelay(failures, 0.5))
  assert.deepEqual(rests, [0, 0, 5_000, 10_000, 60_000])
  assert.deepEqual([getWebhookRetryDelay(1, 0), getWebhookRetryDelay(1, 1)], [4_500, 5_500])
})
