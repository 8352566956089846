/** The columns that hold secrets, to be counted by their keys and to be stored in another form. */
import { sql } from 'kysely'

import type { Db } from './database.ts'

export interface SecretColumn {
  table: string
  column: string
  /** The column that the encryption is bound to, and its type. */
  id: string
  type: 'uuid' | 'text'
}

/** Those that GoTrue reads as well, in its own form while it shares the database. */
export const gotrueSecretColumns: readonly SecretColumn[] = [
  { table: 'sessions', column: 'refresh_token_hmac_key', id: 'id', type: 'uuid' },
  { table: 'mfa_factors', column: 'secret', id: 'id', type: 'uuid' },
  { table: 'mfa_challenges', column: 'otp_code', id: 'id', type: 'uuid' },
  { table: 'flow_state', column: 'provider_access_token', id: 'id', type: 'uuid' },
  { table: 'flow_state', column: 'provider_refresh_token', id: 'id', type: 'uuid' },
]

/** Those of our own tables, which are always encrypted. */
export const ownSecretColumns: readonly SecretColumn[] = [
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

/** The next rows by id that have a secret; the first ones without `after`. */
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
 * Stores each in its new form, where it is still what was read. What somebody holds is left, so that a person whose
 * sessions are ended at the same time never waits for one while this waits for another. Returns the ids of the others.
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

/** The same of one, for which it waits. */
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
