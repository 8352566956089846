/** A server of ours on a database that GoTrue filled. */
import type pg from 'pg'

import { migrated } from '../../db/sql.ts'
import { openPool } from '../database.ts'
import type { Ending } from '../ending.ts'
import { type Built, build } from '../server.ts'
import { gotrueDatabase } from './database.ts'

/** With connections to the database, by which a test does what GoTrue does. */
export type TakenOver = Built & { pool: pg.Pool }

export async function takenOver(t: Ending, env: Record<string, string> = {}): Promise<TakenOver> {
  const database = await gotrueDatabase()
  await migrated(database.url)
  const server = await build(t, { database, env })
  const pool = openPool({ connectionString: database.url, max: 10 })
  t.after(() => pool.end())
  return { ...server, pool }
}
