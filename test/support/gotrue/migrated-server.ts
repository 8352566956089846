/** A server of ours on a database filled by GoTrue. */
import type pg from 'pg'

import { openPool } from '../database.ts'
import type { Ending } from '../processes/ending.ts'
import { type Built, build } from '../server.ts'
import { migratedGotrueDatabase } from './database.ts'

/** With connections to the database, for GoTrue’s statements. */
export type GotrueEncrypted = Built & { pool: pg.Pool }

export async function gotrueEncrypted(
  t: Ending,
  env: Record<string, string> = {},
): Promise<GotrueEncrypted> {
  const database = await migratedGotrueDatabase()
  const server = await build(t, { database, env })
  const pool = openPool({ connectionString: database.url, max: 10 })
  t.after(() => pool.end())
  return { ...server, pool }
}
