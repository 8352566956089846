/**
 * Our indexes on GoTrue's tables and on large ones of ours, needed for speed only. They are built concurrently, one after
 * another, outside of transactions.
 */
import { type Kysely, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'

import { searchedName, trigrams } from '../core/searched-name.ts'
import { type PosternIndex, plainIndexes } from './index-definitions.ts'

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
