/** Statements and transactions of Kysely over the driver, with the round trips that they cost. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AbortedTransactionError, sql } from 'kysely'

import { createDbWithDialect, type Db } from '../../../../db/core/database.ts'
import { createSavepoint, rollbackToSavepoint } from '../../../../db/core/savepoint.ts'
import type { DeliveredQuery, StatementDelivery } from '../../../../db/core/statement.ts'
import { createDialect } from '../../../../plugins/database/driver/index.ts'
import { createPool } from '../../../../plugins/database/pool/index.ts'
import { emptyDatabase } from '../../../support/database.ts'
import { sharedDatabase } from '../../../support/processes/shared-database.ts'
import { watchPool } from '../../../support/statements.ts'

const insertText = 'insert into notes values ($1) returning id'

async function connectTo(url: string, t: TestContext, { preparesStatements = true, max = 1 }) {
  const pool = createPool({ connectionString: url, max, log: { warn() {} } })
  t.after(() => pool.end())
  await pool.query('drop table if exists notes')
  await pool.query('create table notes (id int primary key)')
  const measured: string[] = []
  const onStatement = (text: string, durationMs: number) => {
    assert.ok(durationMs >= 0)
    measured.push(text)
  }
  const options = { preparesStatements, maxDurationMs: 10_000, onStatement }
  const db = createDbWithDialect(createDialect(pool, options), 'public')
  const insert = (by: Db, id: number, delivery?: StatementDelivery) => {
    const query = sql<{ id: number }>`insert into notes values (${id}) returning id`.compile(by)
    const delivered: DeliveredQuery<{ id: number }> = { ...query, delivery }
    return by.executeQuery<{ id: number }>(delivered)
  }
  const ids = async () => {
    const { rows } = await pool.query<{ id: number }>('select id from notes order by id')
    return rows.map(({ id }) => id)
  }
  // The connection has described the statement from then on.
  await insert(db, 0)
  return { pool, db, insert, ids, measured }
}

suite('driver of Kysely', () => {
  const database = sharedDatabase(emptyDatabase)
  const connect = async (t: TestContext, options = {}) =>
    connectTo((await database()).url, t, options)

  test('returns rows, and the number of rows of a write', async (t) => {
    const { db, insert } = await connect(t)
    assert.deepEqual(await insert(db, 1), { rows: [{ id: 1 }], numAffectedRows: 1n })
    const { rows, numAffectedRows } = await sql`select ${'a'}::text as text`.execute(db)
    assert.deepEqual([rows, numAffectedRows], [[{ text: 'a' }], undefined])
  })

  test('sends a transaction in one message for each awaited statement', async (t) => {
    const { pool, db, insert, ids } = await connect(t)
    const trips = await watchPool(pool, () =>
      db.transaction().execute(async (trx) => {
        await createSavepoint(trx, 'here')
        assert.deepEqual((await insert(trx, 1, 'pipelined')).rows, [])
        assert.deepEqual((await insert(trx, 2)).rows, [{ id: 2 }])
        await rollbackToSavepoint(trx, 'here')
        await insert(trx, 3, 'pipelined')
      }),
    )
    assert.deepEqual(trips, [
      ['begin', 'savepoint "here"', insertText, insertText],
      ['rollback to savepoint "here"', insertText, 'commit'],
    ])
    assert.deepEqual(await ids(), [0, 3])
  })

  test('sends nothing for a transaction without statements', async (t) => {
    const { pool, db } = await connect(t)
    const trips = await watchPool(pool, () => db.transaction().execute(async () => {}))
    assert.deepEqual(trips, [])
    assert.equal(pool.idleCount, pool.totalCount)
  })

  test('awaits a pipelined statement outside of transactions', async (t) => {
    const { db, insert, ids } = await connect(t)
    await insert(db, 1, 'pipelined')
    assert.deepEqual(await ids(), [0, 1])
    await assert.rejects(insert(db, 1, 'pipelined'), /duplicate key/)
  })

  test('commits concurrent grouped statements together, and alone inside a transaction', async (t) => {
    const { pool, db, insert } = await connect(t)
    const trips = await watchPool(pool, () =>
      Promise.all([insert(db, 1, 'grouped'), insert(db, 2, 'grouped')]),
    )
    const lockTimeout = 'set local lock_timeout = 25'
    assert.deepEqual(trips, [['begin', lockTimeout, insertText, insertText, 'commit']])
    const inTransaction = await watchPool(pool, () =>
      db.transaction().execute((trx) => insert(trx, 3, 'grouped')),
    )
    assert.deepEqual(inTransaction, [['begin', insertText], ['commit']])
  })

  test('sends every statement separately without prepared statements', async (t) => {
    const { pool, db, insert, ids } = await connect(t, { preparesStatements: false })
    const trips = await watchPool(pool, async () => {
      await db.transaction().execute(async (trx) => {
        await createSavepoint(trx, 'here')
        await insert(trx, 1, 'pipelined')
      })
      await Promise.all([insert(db, 2, 'grouped'), insert(db, 3, 'grouped')])
    })
    const texts = ['begin', 'savepoint "here"', insertText, 'commit', insertText, insertText]
    assert.deepEqual(
      trips,
      texts.map((text) => [text]),
    )
    assert.deepEqual(await ids(), [0, 1, 2, 3])
  })

  test('rejects the commit of a transaction in which a statement failed', async (t) => {
    const { db, insert, ids } = await connect(t)
    const committed = db.transaction().execute(async (trx) => {
      await insert(trx, 1)
      await assert.rejects(insert(trx, 1), /duplicate key/)
    })
    await assert.rejects(committed, AbortedTransactionError)
    assert.deepEqual(await ids(), [0])
  })

  test('closes a connection whose rollback fails', async (t) => {
    const { pool, db, insert } = await connect(t)
    const closed = new Promise((resolve) => pool.once('remove', resolve))
    const transaction = db.transaction().execute(async (trx) => {
      await insert(trx, 1)
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
    })
    await assert.rejects(transaction)
    await closed
    assert.deepEqual((await insert(db, 2)).rows, [{ id: 2 }])
  })

  test('adds the stack of the caller to an error of Postgres', async (t) => {
    const { db, insert } = await connect(t)
    const insertTwice = async () => {
      await insert(db, 0)
    }
    await assert.rejects(insertTwice(), ({ stack }: Error) => /insertTwice/.test(stack ?? ''))
  })

  test('measures each statement, including grouped ones', async (t) => {
    const { db, insert, measured } = await connect(t)
    measured.length = 0
    await Promise.all([insert(db, 1, 'grouped'), insert(db, 2, 'grouped')])
    await assert.rejects(insert(db, 2))
    await db.transaction().execute((trx) => insert(trx, 3, 'pipelined'))
    assert.deepEqual(measured, [insertText, insertText, insertText, insertText])
  })
})
