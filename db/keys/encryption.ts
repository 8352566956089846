/** What the encryption keys are needed for: the probe, the columns with secrets, and the rows under each key. */
import { type RawBuilder, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { keysInPayloads } from '../jobs/private-jobs.ts'

export async function findProbe(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('postern_encryption_probe')
    .select('value')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.value
}

/** Replaces `old`, or inserts the first probe. Changes nothing when another replica did before. */
export async function upsertProbe(db: Db, id: string, value: string, old: string | undefined) {
  if (old === undefined) {
    await db
      .insertInto('postern_encryption_probe')
      .values({ id, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return
  }
  await db
    .updateTable('postern_encryption_probe')
    .set({ value })
    .where('id', '=', id)
    .where('value', '=', old)
    .execute()
}

export interface SecretColumn {
  table: string
  column: string
  /** The column that the encryption is bound to, and its type. */
  id: string
  type: 'uuid' | 'text'
}

/** Columns that GoTrue reads too, in its format while it shares the database. */
export const gotrueSecretColumns: readonly SecretColumn[] = [
  { table: 'sessions', column: 'refresh_token_hmac_key', id: 'id', type: 'uuid' },
  { table: 'mfa_factors', column: 'secret', id: 'id', type: 'uuid' },
  { table: 'mfa_challenges', column: 'otp_code', id: 'id', type: 'uuid' },
  { table: 'flow_state', column: 'provider_access_token', id: 'id', type: 'uuid' },
  { table: 'flow_state', column: 'provider_refresh_token', id: 'id', type: 'uuid' },
  { table: 'custom_oauth_providers', column: 'client_secret', id: 'id', type: 'uuid' },
]

/** Columns of our tables, which are always encrypted. */
export const posternSecretColumns: readonly SecretColumn[] = [
  { table: 'postern_encryption_probe', column: 'value', id: 'id', type: 'uuid' },
  { table: 'postern_signing_keys', column: 'private_jwk', id: 'kid', type: 'text' },
  { table: 'postern_mail_messages', column: 'payload', id: 'id', type: 'uuid' },
  { table: 'postern_webhooks', column: 'secrets', id: 'id', type: 'uuid' },
  { table: 'postern_flows', column: 'secrets', id: 'flow_id', type: 'uuid' },
]

export interface StoredSecret {
  id: string
  value: string
}

/** Returns the next rows by id that have a secret, from the first without `after`. */
export async function findSecrets(
  db: Db,
  schema: string,
  { table, column, id, type }: SecretColumn,
  after: string | undefined,
  limit: number,
): Promise<StoredSecret[]> {
  const isNext = after === undefined ? sql`true` : sql`${sql.ref(id)} > ${after}::${sql.raw(type)}`
  const { rows } = await sql<StoredSecret>`
    select ${sql.ref(id)}::text as id, ${sql.ref(column)} as value from ${sql.id(schema, table)}
    where ${isNext} and ${sql.ref(column)} <> '' order by ${sql.ref(id)} limit ${limit}
  `.execute(db)
  return rows
}

export type ChangedSecret = StoredSecret & { stored: string }

/**
 * Stores each re-encrypted value if the column still has the value that was read. Locked rows are skipped, so that
 * re-encryption never takes part in a deadlock. Returns the ids of the others.
 */
export async function replaceFreeSecrets(
  db: Db,
  schema: string,
  { table, column, id, type }: SecretColumn,
  secrets: readonly ChangedSecret[],
): Promise<string[]> {
  const [key, name] = [sql.ref(id), sql.ref(column)]
  const { rows } = await sql<{ id: string }>`
    with free as (
      select row.${key} as id, given.stored
      from jsonb_to_recordset(${JSON.stringify(secrets)}::jsonb)
        as given (id ${sql.raw(type)}, value text, stored text)
      join ${sql.id(schema, table)} as row on row.${key} = given.id and row.${name} = given.value
      for no key update of row skip locked
    )
    update ${sql.id(schema, table)} as row set ${name} = free.stored
    from free where row.${key} = free.id
    returning row.${key}::text as id
  `.execute(db)
  return rows.map(({ id }) => id)
}

/** As `replaceFreeSecrets` for one row, waiting for its lock. */
export async function replaceSecret(
  db: Db,
  schema: string,
  { table, column, id, type }: SecretColumn,
  secret: ChangedSecret,
): Promise<void> {
  await sql`
    update ${sql.id(schema, table)} set ${sql.ref(column)} = ${secret.stored}
    where ${sql.ref(id)} = ${secret.id}::${sql.raw(type)} and ${sql.ref(column)} = ${secret.value}
  `.execute(db)
}

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
