/** The columns with encrypted secrets, for key usage counts and re-encryption. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'

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
