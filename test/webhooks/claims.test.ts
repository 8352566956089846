/** Which deliveries are claimed, and what is written down of an attempt: by the statements alone, with nobody who sends. */
import assert from 'node:assert/strict'
import { before, beforeEach, suite, test } from 'node:test'

import type pg from 'pg'

import { createDb, type Db } from '../../db/database.ts'
import { insertEvents } from '../../db/event-inbox.ts'
import { placeEvents } from '../../db/events.ts'
import { claimDeliveries } from '../../db/webhook-deliveries.ts'
import { deleteOrphanDeliveries, replayDeliveries } from '../../db/webhook-history.ts'
import { recordAttempts } from '../../db/webhook-outcomes.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  recordWebhookFailure,
  resumeWebhook,
  updateWebhook,
} from '../../db/webhooks.ts'
import { environmentId, syncEnvironment } from '../../plugins/events/environment.ts'
import { restDelay, retryDelay } from '../../plugins/events/schedule.ts'
import { configOf } from '../support/config.ts'
import { cloneDatabase, openPool } from '../support/database.ts'
import { endingOfSuite } from '../support/ending.ts'
import { hold } from '../support/held-person.ts'
import { webhookSecret } from '../support/webhook-receiver.ts'

const now = new Date('2026-05-01T12:00:00Z')
const minutes = (count: number) => new Date(now.getTime() + count * 60_000)
const [ann, ben] = [crypto.randomUUID(), crypto.randomUUID()]
const answer = { status: 500, body: '', error: null, duration_ms: 1 }

suite('deliveries of webhooks', () => {
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

  /** An event about somebody that is to be sent to these webhooks; its position. */
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

  async function idsOf(...positions: number[]): Promise<string[]> {
    const found = db.selectFrom('postern_events').select('id').where('position', 'in', positions)
    return (await found.execute()).map(({ id }) => id)
  }

  const claim = (from: Db = db, at = now, limit = 20) =>
    claimDeliveries(from, { webhookId: one, limit, leasedUntil: minutes(1), now: at })
  const claimed = async (...asked: Parameters<typeof claim>) =>
    (await claim(...asked)).map(({ position }) => position).toSorted((a, b) => a - b)
  const stored = (position: number, webhookId = one) =>
    db
      .selectFrom('postern_webhook_deliveries')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('position', '=', position)
      .executeTakeFirstOrThrow()

  test('of each person the first that waits is claimed, and once until the lease ends', async () => {
    const [first, second, third] = [await event(ann), await event(ann), await event(ben)]
    assert.deepEqual(await claimed(), [first, third])
    assert.deepEqual(await claimed(), [])
    assert.deepEqual(await claimed(db, minutes(1)), [first, third])
    assert.equal((await stored(second)).attempts, 0)
  })

  test('what is due later is not claimed, nor what comes after it for the same person', async () => {
    await event(ann, [one], { due_at: minutes(1) })
    await event(ann)
    assert.deepEqual(await claimed(), [])
  })

  test('neither what was sent nor what was given up nor what another webhook has waits for', async () => {
    await event(ann, [one], { state: 'delivered' })
    await event(ann, [one], { state: 'dead' })
    await event(ann, [other])
    const next = await event(ann, [one, other])
    assert.deepEqual(await claimed(), [next])
    assert.equal((await stored(next, other)).leased_until, null)
  })

  test('what another replica is about to claim is left to it, without waiting', async () => {
    await event(ann)
    await db.transaction().execute(async (trx) => {
      assert.equal((await claim(trx)).length, 1)
      assert.deepEqual(await claimed(), [])
    })
  })

  test('the three days of an event begin with its first attempt', async () => {
    const position = await event(ann)
    await claim()
    await claim(db, minutes(2))
    const { attempts, first_attempt_at, last_attempt_at } = await stored(position)
    assert.deepEqual([attempts, first_attempt_at, last_attempt_at], [2, now, minutes(2)])
  })

  test('an outcome ends the lease; one of an attempt that another one followed changes nothing', async () => {
    const position = await event(ann)
    await claim()
    await claim(db, minutes(2))
    const outcome = { position, due_at: minutes(9), answer }
    await recordAttempts(db, one, [{ ...outcome, attempts: 1, state: 'dead' }], now)
    assert.equal((await stored(position)).state, 'waiting')
    await recordAttempts(db, one, [{ ...outcome, attempts: 2, state: 'waiting' }], now)
    const { due_at, leased_until } = await stored(position)
    assert.deepEqual([due_at, leased_until], [minutes(9), null])
  })

  test('an endpoint that answers again is sent at once what waited for another attempt', async () => {
    const tried = { attempts: 3, due_at: minutes(50) }
    const [waits, theirs] = [await event(ann, [one], tried), await event(ben, [other], tried)]
    await recordWebhookFailure(db, one, minutes(1))
    await resumeWebhook(db, one, now)
    assert.deepEqual((await stored(waits)).due_at, now)
    assert.deepEqual((await stored(theirs, other)).due_at, minutes(50))
    const webhook = await findWebhook(db, one)
    assert.deepEqual([webhook?.failures, webhook?.retry_at], [0, null])
  })

  test('the longest rest of an endpoint holds, until an admin changes the endpoint', async () => {
    await recordWebhookFailure(db, one, minutes(60))
    await recordWebhookFailure(db, one, minutes(1))
    assert.deepEqual((await findWebhook(db, one))?.retry_at, minutes(60))
    const { failures, retry_at } = await updateWebhook(db, one, { description: 'mended' }, now)
    assert.deepEqual([failures, retry_at], [0, null])
  })

  test('a replay begins anew, leaves what waits as it is, and takes what was given up here alone', async () => {
    const tried = { attempts: 9, first_attempt_at: minutes(-60 * 24 * 4), due_at: minutes(50) }
    const dead = await event(ann, [one], { ...tried, state: 'dead' })
    const waits = await event(ben, [one], tried)
    const theirs = await event(ben, [other], { ...tried, state: 'dead' })
    const sent = await event(ben, [one], { state: 'delivered' })
    const replay = async (from: object) => {
      const asked = { webhookId: one, dead: false, ...from }
      const { queued, found, lastPosition } = await replayDeliveries(db, asked, 9, now)
      return [Number(queued), Number(found), lastPosition]
    }

    assert.deepEqual(await replay({ dead: true }), [1, 1, dead])
    const { state, attempts, first_attempt_at } = await stored(dead)
    assert.deepEqual([state, attempts, first_attempt_at], ['waiting', 0, null])
    const fromThere = await replay({ events: await idsOf(dead, waits, theirs, sent) })
    assert.deepEqual(fromThere, [2, 4, sent])
    assert.deepEqual((await stored(waits)).due_at, minutes(50))
  })

  /** Two that were tried, of which the later one lies first in the table. */
  async function twoTried(): Promise<[first: string, second: string]> {
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
        ...{ position: Number(position), attempts: 1, state: 'dead', due_at: now, answer },
      })),
      now,
    )
  const remove = () =>
    db.transaction().execute(async (trx) => {
      await lockWebhook(trx, one)
      await deleteWebhook(trx, one)
    })
  const holding = 'select from auth.postern_webhook_deliveries where position = $1 for update'

  test('deliveries are written in the order of their positions, so that nobody waits in a circle', async () => {
    const writers = {
      outcomes: (first: string, second: string) => record(second, first),
      async 'an endpoint that answers again'() {
        await recordWebhookFailure(db, one, now)
        await resumeWebhook(db, one, now)
      },
    }
    for (const [name, write] of Object.entries(writers)) {
      const [first, second] = await twoTried()
      const held = await hold(pool, holding, [first])
      const { answer: written } = await held.queue(1, () => write(first, second))
      const [taken] = await Promise.allSettled([held.query(`${holding} nowait`, [second])])
      await held.release()
      await written
      assert.equal(taken.status, 'fulfilled', name)
      assert.notDeepEqual((await stored(Number(first))).due_at, minutes(50), name)
    }
  })

  test('a delivery whose event is gone is left for later by the clean-up while somebody holds it', async () => {
    const [first] = await twoTried()
    await db.deleteFrom('postern_events').execute()
    await event(ann)
    const held = await hold(pool, holding, [first])
    const cleaned = await held.queue(1, () => deleteOrphanDeliveries(db, 1000))
    const placeInLine = await Promise.race([cleaned.answer, 'waits'])
    await held.release()
    assert.notEqual(placeInLine, 'waits')
  })

  test('a webhook that is removed is waited for with nothing in hand', async () => {
    const [first, second] = await twoTried()
    const held = await hold(pool, holding, [first])
    const { answer: removed } = await held.queue(1, remove)
    const { answer: written } = await held.queue(2, () => record(second, first))
    await held.release()
    const outcomes = await Promise.allSettled([removed, written])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    assert.equal(await findWebhook(db, one), undefined)
  })

  test('an event that is placed while a webhook is removed is placed for the others', async () => {
    const told = { type: 'user.deleted', user_id: ann, data: {}, with_user: false }
    await insertEvents(db, [{ ...told, id: crypto.randomUUID() }], now)
    const held = await hold(pool, 'delete from auth.postern_webhooks where id = $1', [one])
    const placing = () => db.transaction().execute((trx) => placeEvents(trx, 10, now))
    const { answer: placed } = await held.queue(1, placing)
    await held.release()
    assert.equal(Number(await placed), 1)
    const { rows } = await pool.query<{ webhook_id: string }>(
      'select webhook_id from auth.postern_webhook_deliveries where webhook_id = any($1)',
      [[one, other]],
    )
    assert.deepEqual(rows, [{ webhook_id: other }])
  })

  test('replicas with different endpoints in their environment start at once', async () => {
    const url = (name: string) => `https://${name}.example/`
    const start = (...names: string[]) => {
      const endpoints = names.map((name) => ({ url: url(name), secrets: [webhookSecret] }))
      const config = configOf({ AUTH_WEBHOOK_ENDPOINTS: JSON.stringify(endpoints) })
      return syncEnvironment({ config, db }, now)
    }
    await start('a', 'b', 'c')
    const lock = 'select from auth.postern_webhooks where id = $1 for update'
    const held = await hold(pool, lock, [environmentId(url('c'))])
    const { answer: first } = await held.queue(1, () => start('a', 'c'))
    const { answer: second } = await held.queue(2, () => start('b'))
    await held.release()
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

test('attempts are five seconds to an hour apart; an endpoint that is down rests for a minute at most', () => {
  const delays = [1, 2, 3, 30].map((attempts) => retryDelay(attempts, 0.5))
  assert.deepEqual(delays, [5_000, 10_000, 20_000, 3_600_000])
  const rests = [1, 2, 3, 4, 30].map((failures) => restDelay(failures, 0.5))
  assert.deepEqual(rests, [0, 0, 5_000, 10_000, 60_000])
  assert.deepEqual([retryDelay(1, 0), retryDelay(1, 1)], [4_500, 5_500])
})
