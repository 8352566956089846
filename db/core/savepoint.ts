/** Savepoints. They cost no round trip: each command is sent with the next statement. */
import { type RawBuilder, sql } from 'kysely'

import type { Trx } from './database.ts'
import type { DeliveredQuery } from './statement.ts'

export const createSavepoint = (trx: Trx, name: string): Promise<void> =>
  send(trx, sql`savepoint ${sql.id(name)}`)

export const releaseSavepoint = (trx: Trx, name: string): Promise<void> =>
  send(trx, sql`release savepoint ${sql.id(name)}`)

export const rollbackToSavepoint = (trx: Trx, name: string): Promise<void> =>
  send(trx, sql`rollback to savepoint ${sql.id(name)}`)

/**
 * Runs the work in a savepoint, which is released or rolled back. Both cases send the same statements, so that the
 * response time does not reveal the result.
 */
export async function withSavepoint<T>(
  trx: Trx,
  isKept: boolean,
  work: () => Promise<T>,
): Promise<T> {
  await createSavepoint(trx, 'kept_if')
  const result = await work()
  await (isKept ? releaseSavepoint : rollbackToSavepoint)(trx, 'kept_if')
  return result
}

/** Runs the work in a savepoint, which is rolled back when it fails. Rethrows. */
export async function undoOnError<T>(trx: Trx, work: () => Promise<T>): Promise<T> {
  await sql`savepoint undone_on_error`.execute(trx)
  try {
    const result = await work()
    await sql`release savepoint undone_on_error`.execute(trx)
    return result
  } catch (error) {
    await sql`rollback to savepoint undone_on_error`.execute(trx)
    throw error
  }
}

async function send(trx: Trx, command: RawBuilder<unknown>): Promise<void> {
  const query: DeliveredQuery<unknown> = { ...command.compile(trx), delivery: 'pipelined' }
  await trx.executeQuery(query)
}
