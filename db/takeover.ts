/** Whether a GoTrue reads this database, too. */
import { sql } from 'kysely'

import type { Db } from './database.ts'

export interface TakeoverTable {
  only_row: boolean
  state: TakeoverState
  began_at: Date
  finished_at: Date | null
}

/** 'shared' while a GoTrue may come back; 'own' where none was, or none is wanted any more. */
export type TakeoverState = 'shared' | 'own'

export async function findTakeover(
  db: Db,
): Promise<Pick<TakeoverTable, 'state' | 'began_at' | 'finished_at'>> {
  return db
    .selectFrom('postern_takeover')
    .select(['state', 'began_at', 'finished_at'])
    .executeTakeFirstOrThrow()
}

/** No way back is wanted. */
export async function finishTakeover(db: Db): Promise<void> {
  await db.updateTable('postern_takeover').set({ state: 'own', finished_at: sql`now()` }).execute()
}
