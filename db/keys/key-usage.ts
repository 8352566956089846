/** Counts the rows that each encryption key is needed for. */
import { type RawBuilder, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { keysInPayloads } from '../jobs/private-jobs.ts'
import { gotrueSecretColumns, posternSecretColumns } from './encrypted-columns.ts'

export interface KeyUsage {
  /** Null for plain values and for values under an unknown key. */
  key_id: string | null
  /** `table.column`. */
  place: string
  rows: number
}

/** Digests of early recovery codes: they cannot be verified with another key, nor re-encrypted. */
export const recoveryCodeDigests = 'postern_recovery_code_digests.digest'
/** Queued requests, which are processed within hours. */
export const waitingJobs = 'waiting jobs'

/** Reads every row that can hold a secret: slow on a large database. */
export async function countKeyUsage(
  db: Db,
  schema: string,
  queueSchema: string,
): Promise<KeyUsage[]> {
  const columns = [...gotrueSecretColumns, ...posternSecretColumns]
  const counts = [
    ...columns.map(({ table, column }) => selectUsage(schema, table, column)),
    selectUsage(schema, 'users', 'encrypted_password', sql`encrypted_password like '{%'`),
    sql<KeyUsage>`select key_id, ${recoveryCodeDigests} as place, count(*)::int as rows
      from ${sql.id(schema, 'postern_recovery_code_digests')} as digests
      join ${sql.id(schema, 'mfa_recovery_codes')} as codes on codes.id = digests.code_id
      where is_early and consumed_at is null group by 1`,
    sql<KeyUsage>`select key_id, ${waitingJobs} as place, rows
      from (${keysInPayloads(queueSchema, quotedKeyId)}) as payloads`,
  ]
  const found: KeyUsage[] = []
  // Sequentially: each reads a whole table while the server serves requests.
  for (const count of counts) found.push(...(await count.execute(db)).rows)
  return found
}

/** Every stored form begins with the id of its key, GoTrue's too. */
const keyIdAtStart = '^\\{"key_id": ?"([^"]*)"'
/** The same inside a JSON string. */
const quotedKeyId = '"\\{\\\\"key_id\\\\":\\\\"([0-9a-f]{16})\\\\"'

function selectUsage(
  schema: string,
  table: string,
  column: string,
  where: RawBuilder<unknown> = sql`${sql.ref(column)} <> ''`,
): RawBuilder<KeyUsage> {
  return sql<KeyUsage>`
    select substring(${sql.ref(column)} from ${keyIdAtStart}) as key_id,
      ${`${table}.${column}`} as place, count(*)::int as rows
    from ${sql.id(schema, table)} where ${where} group by 1`
}
