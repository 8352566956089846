/**
 * Our indexes on GoTrue's tables and on large ones of ours, needed for speed only. They are built concurrently, one after
 * another, outside of transactions.
 */
import { type Kysely, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'

import { nilUuid } from '../tables/users.ts'
import { searchedName, trigrams } from '../users/search.ts'

const byName = 'postern_users_name_idx'

/** Of versions before 1.0.0; postern_users_listed_idx replaced it. */
const byAudience = 'postern_users_by_aud_idx'

export interface IndexScope {
  schema: string
  /** AUTH_DB_INDEX_USER_NAMES. */
  indexesUserNames: boolean
}

/** Returns the indexes that do not exist, or that an interrupted build left invalid. */
export async function missingIndexes(
  db: QueryExecutorProvider,
  scope: IndexScope,
): Promise<PosternIndex[]> {
  const present = await presentIndexes(db, scope, sql`indisvalid`)
  const required = [...plainIndexes, ...(await searchIndexes(db, scope))]
  return required.filter(({ name }) => !present.includes(name))
}

/** Returns the names of existing indexes that this version or the configuration does not need. */
export async function unusedIndexes(
  db: QueryExecutorProvider,
  scope: IndexScope,
): Promise<string[]> {
  const present = await presentIndexes(db, scope, sql`true`)
  const unneeded = scope.indexesUserNames ? [trigrams.withoutNames] : [byName, trigrams.withNames]
  return [byAudience, ...unneeded].filter((name) => present.includes(name))
}

async function presentIndexes(
  db: QueryExecutorProvider,
  { schema }: IndexScope,
  condition: RawBuilder<unknown>,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) and ${condition}
  `.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * Returns indexes that Postgres does not use because a build or restore was interrupted. Ours are rebuilt
 * automatically.
 */
export async function invalidIndexes(db: QueryExecutorProvider, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) and not indisvalid order by 1
  `.execute(db)
  return rows.map(({ name }) => name)
}

/** A statement that must run outside of transactions. */
export interface BuildStatement {
  text: string
  execute(): Promise<unknown>
}

/** A statement that waits for a table lock blocks all later ones on that table. */
const lockTimeout = '50ms'

/**
 * Builds the index concurrently, after the open transactions, by statements that `beside` runs. An empty table is
 * indexed immediately.
 */
export async function buildIndex(
  db: Kysely<unknown>,
  schema: string,
  { name, table, definition }: PosternIndex,
  run: (statement: BuildStatement) => Promise<void>,
): Promise<void> {
  const home = sql.id(schema, table)
  const statements = (way: RawBuilder<unknown>) => [
    // An interrupted build leaves an invalid index, which has to be dropped first.
    sql`drop index ${way} if exists ${sql.id(schema, name)}`,
    sql`create index ${way} ${sql.ref(name)} on ${home} ${sql.raw(definition)}`,
  ]
  const { rows } = await sql`select 1 from ${home} limit 1`.execute(db)
  if (rows.length > 0) {
    // Without statistics of the expression, Postgres expects few rows and would read all that match a common name.
    const analyze = isOfExpression(definition) ? [sql`analyze ${home}`] : []
    for (const statement of [...statements(sql`concurrently`), ...analyze]) {
      const { sql: text } = statement.compile(db)
      await run({ text, execute: () => statement.execute(db) })
    }
    return
  }
  await db.transaction().execute(async (trx) => {
    await sql`select set_config('lock_timeout', ${lockTimeout}, true)`.execute(trx)
    for (const statement of statements(sql``)) await statement.execute(trx)
  })
}

/** Waits for the transactions that use the index, and blocks no other. */
export async function dropIndex(
  db: Kysely<unknown>,
  schema: string,
  name: string,
  run: (statement: BuildStatement) => Promise<void>,
): Promise<void> {
  const statement = sql`drop index concurrently if exists ${sql.id(schema, name)}`
  await run({ text: statement.compile(db).sql, execute: () => statement.execute(db) })
}

const isOfExpression = (definition: string): boolean => /\((\(|lower)/.test(definition)

/** One or two letters are no trigram: the prefix of names is indexed as well. */
async function searchIndexes(
  db: QueryExecutorProvider,
  { indexesUserNames }: IndexScope,
): Promise<PosternIndex[]> {
  const expressions = indexesUserNames ? [`(${searchedName})`] : []
  const byStart = expressions.map((name) => `(${name} text_pattern_ops)`)
  const found = byStart.map((definition) => ({ name: byName, table: 'users', definition }))
  const operators = await trigramOperators(db)
  if (!operators) return found
  const columns = ['email', 'phone', ...expressions].map((column) => `${column} ${operators}`)
  const name = indexesUserNames ? trigrams.withNames : trigrams.withoutNames
  return [...found, { name, table: 'users', definition: `using gin (${columns.join(', ')})` }]
}

/** Returns the qualified operator class, or undefined without the extension. */
async function trigramOperators(db: QueryExecutorProvider): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, opcname) as name
    from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
    where opcname = 'gin_trgm_ops' and has_schema_privilege(nspname, 'usage') limit 1
  `.execute(db)
  return rows[0]?.name
}

// Definitions of our indexes on GoTrue's tables and on large ones of ours.

interface PosternIndex {
  name: string
  table: string
  /** The part of the statement after the table name. */
  definition: string
}

/** Without those for searches, which depend on the configuration and on pg_trgm. */
const plainIndexes: readonly PosternIndex[] = [
  [
    'postern_users_listed_idx',
    'users',
    `(aud, created_at, id) where (instance_id = '${nilUuid}') is true`,
  ],
  ['postern_users_email_idx', 'users', '(email text_pattern_ops)'],
  ['postern_users_phone_idx', 'users', '(phone text_pattern_ops)'],
  // Few users are in these states: an index of all users by creation would be read to its end for them.
  ['postern_users_banned_idx', 'users', '(created_at, id) where banned_until is not null'],
  ['postern_users_deleted_idx', 'users', '(created_at, id) where deleted_at is not null'],
  ['postern_users_sso_idx', 'users', '(created_at, id) where is_sso_user'],
  ['postern_users_anonymous_idx', 'users', '(created_at, id) where is_anonymous'],
  [
    'postern_users_invited_idx',
    'users',
    '(created_at, id) where invited_at is not null and email_confirmed_at is null',
  ],
  [
    'postern_users_unconfirmed_idx',
    'users',
    '(created_at, id) where email_confirmed_at is null and phone_confirmed_at is null',
  ],
  ['postern_identities_provider_idx', 'identities', '(provider, user_id)'],
  ['postern_one_time_tokens_created_at_idx', 'one_time_tokens', '(created_at)'],
  ['postern_flow_state_linking_idx', 'flow_state', '(linking_target_id)'],
  ['postern_mfa_challenges_factor_idx', 'mfa_challenges', '(factor_id)'],
  ['postern_audit_log_entries_created_at_idx', 'audit_log_entries', '(created_at, id)'],
  // The actions by and on a user, and those of an impersonating admin, among millions of entries.
  [
    'postern_audit_log_entries_actor_idx',
    'audit_log_entries',
    "((payload ->> 'actor_id'), created_at, id)",
  ],
  [
    'postern_audit_log_entries_subject_idx',
    'audit_log_entries',
    "((payload -> 'traits' ->> 'user_id'), created_at, id) where (payload -> 'traits' ->> 'user_id') is not null",
  ],
  [
    'postern_audit_log_entries_act_idx',
    'audit_log_entries',
    "((payload -> 'act' ->> 'sub'), created_at, id) where (payload -> 'act' ->> 'sub') is not null",
  ],
  ['postern_saml_relay_states_flow_state_idx', 'saml_relay_states', '(flow_state_id)'],
  ['postern_identities_wallet_idx', 'identities', "(lower(provider_id)) where provider = 'web3'"],
  // The list of sent messages, newest first.
  ['postern_mail_messages_created_at_idx', 'postern_mail_messages', '(created_at, id)'],
  // Few organizations are deleted, as few users are.
  [
    'postern_organizations_deleted_idx',
    'postern_organizations',
    '(created_at, id) where deleted_at is not null',
  ],
  // The events of one type after a position, however rare.
  ['postern_events_type_idx', 'postern_events', '(type, position)'],
  ['postern_impersonations_by_idx', 'postern_impersonations', '(impersonated_by)'],
  ['postern_oauth_clients_created_at_idx', 'oauth_clients', '(created_at)'],
  ['postern_oauth_authorizations_client_idx', 'oauth_authorizations', '(client_id)'],
  ['postern_oauth_authorizations_user_idx', 'oauth_authorizations', '(user_id)'],
  ['postern_oauth_consents_client_idx', 'oauth_consents', '(client_id)'],
].map(([name = '', table = '', definition = '']) => ({ name, table, definition }))
