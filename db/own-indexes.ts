/**
 * Indexes of ours on GoTrue's tables: nothing is wrong without them, only slow. They are built beside the traffic, one
 * after another, each by a statement of its own outside of transactions.
 */
import { type Kysely, sql } from 'kysely'

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
export async function missingIndexes(db: Kysely<unknown>, schema: string): Promise<OwnIndex[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) and indisvalid
  `.execute(db)
  const present = new Set(rows.map(({ name }) => name))
  const wanted = [...plain, ...(await nameIndexes(db))]
  return wanted.filter(({ name }) => !present.has(name))
}

/**
 * Builds it while others read and write the table, after the transactions that are under way; at once where the table
 * is empty.
 */
export async function buildIndex(
  db: Kysely<unknown>,
  schema: string,
  { name, table, definition }: OwnIndex,
): Promise<void> {
  const home = sql.id(schema, table)
  const { rows } = await sql`select 1 from ${home} limit 1`.execute(db)
  const way = sql.raw(rows.length > 0 ? 'concurrently' : '')
  // What a build that was cut off has left is worth nothing, and is in the way.
  await sql`drop index ${way} if exists ${sql.id(schema, name)}`.execute(db)
  await sql`create index ${way} ${sql.ref(name)} on ${home} ${sql.raw(definition)}`.execute(db)
}

/** One or two letters are no trigram: whatever there is, people are found by the start of their names, too. */
async function nameIndexes(db: Kysely<unknown>): Promise<OwnIndex[]> {
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
async function trigramOperators(db: Kysely<unknown>): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, opcname) as name
    from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
    where opcname = 'gin_trgm_ops' and has_schema_privilege(nspname, 'usage') limit 1
  `.execute(db)
  return rows[0]?.name
}
