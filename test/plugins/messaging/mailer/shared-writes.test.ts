/** The states of several emails are committed together. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'

import { createDbWithDialect } from '../../../../db/core/database.ts'
import { groupLockTimeout } from '../../../../plugins/database/driver/connection.ts'
import { createDialect } from '../../../../plugins/database/driver/index.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import { maxAttempts } from '../../../../plugins/messaging/mailer/outbox/first-attempts.ts'
import { createMailJobs } from '../../../../plugins/messaging/mailer/outbox/payload.ts'
import { createSender, createWriteTimes } from '../../../../plugins/messaging/mailer/outbox/send.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { watchPool } from '../../../support/statements.ts'

const log = { info() {}, warn() {} }
const { signal } = new AbortController()

suite('states of several emails', () => {
  test('are written without a warning about the time-out at first and after a pause', async (t) => {
    // Node emits such a warning once for each process, so this test comes first.
    const warnings: Error[] = []
    const add = (warning: Error) => void warnings.push(warning)
    process.on('warning', add)
    t.after(() => process.off('warning', add))
    const nextWrite = createWriteTimes()
    await nextWrite()
    await setTimeout(30)
    await nextWrite()
    assert.deepEqual(warnings, [])
  })

  test('are written 25 ms after the previous time, or when all attempts wait', async () => {
    const nextWrite = createWriteTimes()
    // Before the first time: a busy machine may return from it late.
    const start = performance.now()
    await nextWrite()
    const order: string[] = []
    const write = (name: string) => nextWrite().then(() => void order.push(name))
    await Promise.all([write('a'), write('b')])
    // A timer may end a millisecond early.
    assert.ok(performance.now() - start >= 23)
    const timer = setTimeout(0).then(() => void order.push('timer'))
    await Promise.all([timer, ...Array.from({ length: maxAttempts }, () => write('c'))])
    assert.deepEqual(order, ['a', 'b', 'c', 'c', 'c', 'c', 'timer'])
  })

  test('two processes with the same messages send each once, and commit leases together', async (t) => {
    const { url } = await cloneDatabase(t)
    const ids = Array.from({ length: 6 }, () => crypto.randomUUID())
    const composed = Promise.withResolvers<void>()
    let count = 0
    const sent: string[] = []
    const startProcess = (order: string[]) => {
      const pool = createPool({ connectionString: url, max: 4, log })
      t.after(() => pool.end())
      const dialect = createDialect(pool, { preparesStatements: true, maxDurationMs: 60_000 })
      const db = createDbWithDialect(dialect, 'auth')
      const { sendById } = createSender<{ id: string }>({
        db,
        log,
        jobs: createMailJobs('auth_jobs'),
        emitsDeadLetters: false,
        retryDelay: () => 3600_000,
        compose: async ({ id }) => {
          count += 1
          if (count === 2 * ids.length) composed.resolve()
          await composed.promise
          return { id }
        },
        deliver: async ({ id }) => {
          sent.push(id)
          return '250 taken'
        },
      })
      return { pool, db, sendAll: () => Promise.all(order.map((id) => sendById(id, signal))) }
    }
    const { pool, db, sendAll } = startProcess(ids)
    const other = startProcess(ids.toReversed())
    await db.insertInto('postern_mail_messages').values(ids.map(queued)).execute()

    const trips = await watchPool(pool, () => Promise.all([sendAll(), other.sendAll()]))

    assert.deepEqual(sent.toSorted(), ids.toSorted())
    const rows = await db.selectFrom('postern_mail_messages').select('state').execute()
    assert.deepEqual(
      rows.map(({ state }) => state),
      ids.map(() => 'sent'),
    )
    assert.ok(trips.flat().includes(groupLockTimeout))
  })
})

const queued = (id: string) => ({
  id,
  kind: 'recovery',
  payload: 'sealed',
  state: 'queued' as const,
  attempts: 0,
  created_at: new Date(),
  updated_at: new Date(),
})
