/** Names the columns whose JSON is of another kind than the server writes, so that an operator can repair them. */
import type pg from 'pg'

import type { ReportUnreadable } from '../../db/core/stored-json.ts'
import type { Deps } from '../define-plugin.ts'

/** One list of users may have a thousand such values. */
const pauseMs = 60_000

/** Logs each column and kind of value once a minute. */
export function createUnreadableReport({ log, pool }: Deps<'log' | 'pool'>): ReportUnreadable {
  const loggedAt = new Map<string, number>()
  return ({ column, found, tableId }) => {
    const now = Date.now()
    const key = `${tableId} ${column} ${found}`
    if (now - (loggedAt.get(key) ?? -pauseMs) < pauseMs) return
    loggedAt.set(key, now)
    void findTable(pool, tableId).then((table) => {
      log.warn({ table, column, found }, 'JSON left out: the column holds another kind of value')
    })
  }
}

/** Undefined when it is unknown. */
async function findTable(pool: pg.Pool, tableId: number | undefined): Promise<string | undefined> {
  if (tableId === undefined) return undefined
  const text = 'select $1::oid::regclass::text as name'
  const found = await pool.query<{ name: string }>(text, [tableId]).catch(() => undefined)
  return found?.rows[0]?.name
}
