/** Changes that are made in any case, so that nobody sees by the time it takes whether they are kept. */
import { sql } from 'kysely'

import type { Trx } from './database.ts'

/** Does the work and keeps what it changed, or takes it back: the same statements but for how their savepoint ends. */
export async function keptIf<T>(trx: Trx, isKept: boolean, work: () => Promise<T>): Promise<T> {
  await sql`savepoint kept_if`.execute(trx)
  const result = await work()
  const end = isKept ? sql`release savepoint kept_if` : sql`rollback to savepoint kept_if`
  await end.execute(trx)
  return result
}
