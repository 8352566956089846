/** The columns of GoTrue's tables that hold secrets, to be stored in another form. */
import { sql } from 'kysely'

import type { Db } from './database.ts'

export const secretColumns = [
  { table: 'sessions', column: 'refresh_token_hmac_key' },
  { table: 'mfa_factors', column: 'secret' },
  { table: 'mfa_challenges', column: 'otp_code' },
  { table: 'flow_state', column: 'provider_access_token' },
  { table: 'flow_state', column: 'provider_refresh_token' },
] as const

export type SecretColumn = (typeof secretColumns)[number]

export interface StoredSecret {
  id: string
  value: string
}

/** The next rows by id that have a secret. */
export async function findSecrets(
  db: Db,
  schema: string,
  { table, column }: SecretColumn,
  after: string,
  limit: number,
): Promise<StoredSecret[]> {
  const { rows } = await sql<StoredSecret>`
    select id, ${sql.ref(column)} as value from ${sql.id(schema, table)}
    where id > ${after}::uuid and ${sql.ref(column)} <> '' order by id limit ${limit}
  `.execute(db)
  return rows
}

/** Stores each in its new form, where it is still what was read. */
export async function replaceSecrets(
  db: Db,
  schema: string,
  { table, column }: SecretColumn,
  secrets: readonly (StoredSecret & { stored: string })[],
): Promise<void> {
  const name = sql.ref(column)
  await sql`
    update ${sql.id(schema, table)} as row set ${name} = given.stored
    from jsonb_to_recordset(${JSON.stringify(secrets)}::jsonb) as given (id uuid, value text, stored text)
    where row.id = given.id and row.${name} = given.value
  `.execute(db)
}
