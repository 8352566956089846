/** Workers that process one message concurrently, and a database lost after the delivery. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type pg from 'pg'

import { createDb } from '../../../../db/core/database.ts'
import { MailTransportError } from '../../../../mail/transport-error.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import { createMailJobs } from '../../../../plugins/messaging/mailer/outbox/payload.ts'
import { createSender, retryWrite } from '../../../../plugins/messaging/mailer/outbox/send.ts'
import { cloneDatabase } from '../../../support/database.ts'

const log = { info() {}, warn() {} }
const { signal } = new AbortController()

suite('concurrent workers', () => {
  test('send a message once when both have found it in the queue', async (t) => {
    const { id, worker, row } = await start(t)
    const both = Promise.withResolvers<void>()
    let found = 0
    let sent = 0
    const send = worker({
      compose: async () => {
        found += 1
        if (found === 2) both.resolve()
        await both.promise
      },
      deliver: async () => {
        sent += 1
      },
    })

    await Promise.all([send(id, signal), send(id, signal)])

    assert.equal(sent, 1)
    assert.deepEqual(await row(), { state: 'sent', attempts: 1 })
  })

  test('skip a message that another worker has attempted in the meantime', async (t) => {
    const { id, pool, worker, row } = await start(t)
    const [composing, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let late = 0
    const first = worker({
      compose: async () => {},
      deliver: unreached,
    })
    const second = worker({
      compose: () => {
        composing.resolve()
        return tried.promise
      },
      deliver: async () => {
        late += 1
      },
    })

    const waiting = second(id, signal)
    await composing.promise
    await first(id, signal)
    tried.resolve()
    await waiting

    assert.equal(late, 0)
    assert.deepEqual(await row(), { state: 'queued', attempts: 1 })
    assert.deepEqual(await minutesLeft(pool), [60])
  })

  test('wait the full delay when the server’s clock is hours behind', async (t) => {
    const { id, pool, worker } = await start(t)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 5 * 3600_000 })
    await worker({ compose: async () => {}, deliver: unreached })(id, signal)
    assert.deepEqual(await minutesLeft(pool), [60])
  })

  test('skip a message moved to dead letters', async (t) => {
    const { id, pool, worker, row } = await start(t)
    let sent = 0
    const send = worker({
      compose: async () => {
        await pool.query(`update auth.postern_mail_messages set state = 'dead'`)
      },
      deliver: async () => {
        sent += 1
      },
    })

    await send(id, signal)

    assert.equal(sent, 0)
    assert.deepEqual(await row(), { state: 'dead', attempts: 0 })
  })

  test('write the outcome when the database is available again', async (t) => {
    const { id, pool, worker, row } = await start(t)
    const lost = Promise.withResolvers<void>()
    const send = worker({
      compose: async () => {},
      deliver: async () => {
        await pool.query('alter table auth.postern_mail_messages rename to lost')
        lost.resolve()
      },
    })

    const sending = send(id, signal)
    await lost.promise
    // For a write that fails; without one, less is shown.
    await pause(300)
    await pool.query('alter table auth.lost rename to postern_mail_messages')
    await sending

    assert.deepEqual(await row(), { state: 'sent', attempts: 1 })
  })
})

suite('unwritable outcome', () => {
  const lost = () => Promise.reject(new Error('lost'))

  test('is dropped immediately at shutdown', async (t) => {
    const write = t.mock.fn(lost)
    await assert.rejects(retryWrite(write, AbortSignal.abort()), /lost/)
    assert.equal(write.mock.callCount(), 1)
  })

  test('is retried for four minutes', async (t) => {
    let clock = 0
    t.mock.method(performance, 'now', () => clock)
    const write = t.mock.fn(() => {
      clock += 120_001
      return lost()
    })
    await assert.rejects(retryWrite(write, signal), /lost/)
    assert.equal(write.mock.callCount(), 2)
  })
})

const ages: [what: string, daysOld: number, daysLeft: number | null, state: string][] = [
  ['three days after the request', 3.1, null, 'dead'],
  ['before three days', 2.9, null, 'queued'],
  ['while its link is valid', 3.1, 1, 'queued'],
]
suite('email with an unreachable mail server', () => {
  for (const [what, daysOld, daysLeft, state] of ages) {
    test(`is ${state} ${what}`, async (t) => {
      const { id, worker, row } = await start(t, { daysOld, daysLeft })
      await worker({ compose: async () => {}, deliver: unreached })(id, signal)
      assert.deepEqual(await row(), { state, attempts: 1 })
    })
  }
})

test('moves an email with an unknown outcome to dead letters, without the address in the reason', async (t) => {
  const { id, pool, worker } = await start(t)
  const deliver = async () => {
    throw new Error('something about ann@example.com')
  }
  await worker({ compose: async () => {}, deliver })(id, signal)
  const { rows } = await pool.query('select state, reason from auth.postern_mail_messages')
  const reason = 'may have been delivered: Error: something about (address)'
  assert.deepEqual(rows, [{ state: 'dead', reason }])
})

async function unreached() {
  throw new MailTransportError('temporary', 'the mail server was not reached')
}

/** Until each job that waits is due. */
async function minutesLeft(pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ seconds: number }>(
    'select extract(epoch from run_at - now())::float8 as seconds from auth_jobs.jobs',
  )
  return rows.map(({ seconds }) => Math.round(seconds / 60))
}

interface Work {
  compose: () => Promise<void>
  deliver: () => Promise<void>
}

/** A queued message without another worker. */
async function start(
  t: TestContext,
  { daysOld, daysLeft }: { daysOld: number; daysLeft: number | null } = {
    daysOld: 0,
    daysLeft: null,
  },
) {
  const { url } = await cloneDatabase(t)
  const pool = createPool({ connectionString: url, max: 4, log })
  t.after(() => pool.end())
  const db = createDb(pool, 'auth')
  const id = crypto.randomUUID()
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  const now = inDays(-daysOld)
  await db
    .insertInto('postern_mail_messages')
    .values({
      id,
      kind: 'recovery',
      payload: 'sealed',
      state: 'queued',
      attempts: 0,
      created_at: now,
      updated_at: now,
      expires_at: daysLeft === null ? null : inDays(daysLeft),
    })
    .execute()
  const worker = ({ compose, deliver }: Work) =>
    createSender<{ id: string }>({
      db,
      log,
      jobs: createMailJobs('auth_jobs'),
      emitsDeadLetters: false,
      retryDelay: () => 3600_000,
      compose: async () => {
        await compose()
        return { id }
      },
      deliver: async () => {
        await deliver()
        return '250 taken'
      },
    }).sendById
  const row = () =>
    db
      .selectFrom('postern_mail_messages')
      .select(['state', 'attempts'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  return { id, pool, worker, row }
}
