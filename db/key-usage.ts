/** How many rows each encryption key is needed for, wherever its id stands. */
import { type RawBuilder, sql } from 'kysely'

import type { Db } from './database.ts'
import { gotrueSecretColumns, ownSecretColumns } from './stored-secrets.ts'

export interface KeyUsage {
  /** Null for what is stored in clear, or under a key of which nothing is known. */
  key_id: string | null
  /** As `table.column`. */
  place: string
  rows: number
}

/** Recovery codes are hashed with a key and can never be stored anew. */
export const recoveryCodes = 'postern_recovery_codes.code_hash'
/** Requests that wait in the queue are gone within hours. */
export const waitingJobs = 'waiting jobs'

/** Reads every row that can hold a secret, so that it takes its time in a large database. */
export async function countKeyUsage(
  db: Db,
  schema: string,
  queueSchema: string,
): Promise<KeyUsage[]> {
  const columns = [...gotrueSecretColumns, ...ownSecretColumns]
  const counts = [
    ...columns.map(({ table, column }) => usageOf(schema, table, column)),
    usageOf(schema, 'users', 'encrypted_password', sql`encrypted_password like '{%'`),
    sql<KeyUsage>`select key_id, ${recoveryCodes} as place, count(*)::int as rows
      from ${sql.id(schema, 'postern_recovery_codes')} group by 1`,
    sql<KeyUsage>`select substring(payload::text from ${quotedKeyId}) as key_id,
      ${waitingJobs} as place, count(*)::int as rows
      from ${sql.id(queueSchema, '_private_jobs')}
      where payload::text ~ ${quotedKeyId} and attempts < max_attempts group by 1`,
  ]
  const found: KeyUsage[] = []
  // One after the other: they read whole tables beside the traffic.
  for (const count of counts) found.push(...(await count.execute(db)).rows)
  return found
}

/** Every stored form begins with the id of its key, GoTrue's as well. */
const keyIdAtStart = '^\\{"key_id": ?"([^"]*)"'
/** The same as a string inside of JSON. */
const quotedKeyId = '"\\{\\\\"key_id\\\\":\\\\"([0-9a-f]{16})\\\\"'

function usageOf(
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
