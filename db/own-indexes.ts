/**
 * Indexes of ours on GoTrue's tables: nothing is wrong without them, only slow. They are built beside the traffic, one
 * after another, each by a statement of its own outside of transactions.
 */
import { type Kysely, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'

export interface OwnIndex {
  name: string
  table: string
  /** What follows the table's name in its statement. */
  definition: string
}

const plain: OwnIndex[] = [
  ['postern_users_by_aud_idx', 'users', '(instance_id, aud, created_at, id)'],
  ['postern_users_email_idx', 'users', '(email text_pattern_ops)'],
  ['postern_users_phone_idx', 'users', '(phone text_pattern_ops)'],
  ['postern_one_time_tokens_created_at_idx', 'one_time_tokens', '(created_at)'],
  ['postern_flow_state_linking_idx', 'flow_state', '(linking_target_id)'],
  ['postern_mfa_challenges_factor_idx', 'mfa_challenges', '(factor_id)'],
  ['postern_audit_log_entries_created_at_idx', 'audit_log_entries', '(created_at, id)'],
  ['postern_saml_relay_states_flow_state_idx', 'saml_relay_states', '(flow_state_id)'],
  ['postern_oauth_clients_created_at_idx', 'oauth_clients', '(created_at)'],
  ['postern_oauth_authorizations_client_idx', 'oauth_authorizations', '(client_id)'],
  ['postern_oauth_authorizations_user_idx', 'oauth_authorizations', '(user_id)'],
  ['postern_oauth_consents_client_idx', 'oauth_consents', '(client_id)'],
].map(([name = '', table = '', definition = '']) => ({ name, table, definition }))

/** The name that a person is found by; db/user-search.ts asks for it in the same words. */
export const searchedName =
  "lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255))"

/** Those that the schema does not have yet, or that a build which was cut off left invalid. */
export async function missingIndexes(
  db: QueryExecutorProvider,
  schema: string,
): Promise<OwnIndex[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) and indisvalid
  `.execute(db)
  const present = new Set(rows.map(({ name }) => name))
  const wanted = [...plain, ...(await nameIndexes(db))]
  return wanted.filter(({ name }) => !present.has(name))
}

/** Those that Postgres does not use, because a build or a restore was cut off; ours are built again by themselves. */
export async function invalidIndexes(db: QueryExecutorProvider, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) and not indisvalid order by 1
  `.execute(db)
  return rows.map(({ name }) => name)
}

/** A statement that runs outside of transactions. */
export interface BuildStatement {
  text: string
  execute(): Promise<unknown>
}

/** A statement that waits for a lock of the table makes all wait that come after it. */
const lockTimeout = '50ms'

/**
 * Builds it while others read and write the table, after the transactions that are under way, by statements that
 * `beside` runs; at once where the table is empty.
 */
export async function buildIndex(
  db: Kysely<unknown>,
  schema: string,
  { name, table, definition }: OwnIndex,
  beside: (statement: BuildStatement) => Promise<void>,
): Promise<void> {
  const home = sql.id(schema, table)
  const statements = (way: RawBuilder<unknown>) => [
    // What a build that was cut off has left is worth nothing, and is in the way.
    sql`drop index ${way} if exists ${sql.id(schema, name)}`,
    sql`create index ${way} ${sql.ref(name)} on ${home} ${sql.raw(definition)}`,
  ]
  const { rows } = await sql`select 1 from ${home} limit 1`.execute(db)
  if (rows.length > 0) {
    for (const statement of statements(sql`concurrently`)) {
      const { sql: text } = statement.compile(db)
      await beside({ text, execute: () => statement.execute(db) })
    }
    return
  }
  await db.transaction().execute(async (trx) => {
    await sql`select set_config('lock_timeout', ${lockTimeout}, true)`.execute(trx)
    for (const statement of statements(sql``)) await statement.execute(trx)
  })
}

/** One or two letters are no trigram: whatever there is, people are found by the start of their names, too. */
async function nameIndexes(db: QueryExecutorProvider): Promise<OwnIndex[]> {
  const byStart = {
    name: 'postern_users_name_idx',
    table: 'users',
    definition: `((${searchedName}) text_pattern_ops)`,
  }
  const operators = await trigramOperators(db)
  if (!operators) return [byStart]
  const columns = ['email', 'phone', `(${searchedName})`].map((column) => `${column} ${operators}`)
  const byAnyPart = {
    name: 'postern_users_trigram_idx',
    table: 'users',
    definition: `using gin (${columns.join(', ')})`,
  }
  return [byStart, byAnyPart]
}

/** The qualified name of the operator class; undefined where the extension is missing. */
async function trigramOperators(db: QueryExecutorProvider): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, opcname) as name
    from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
    where opcname = 'gin_trgm_ops' and has_schema_privilege(nspname, 'usage') limit 1
  `.execute(db)
  return rows[0]?.name
}
