/**
 * Building blocks of idempotent migrations: they create what the current schema lacks and leave the rest, so that a
 * database created by GoTrue can be migrated in place.
 */
import { type Kysely, sql } from 'kysely'

export type MigrationDb = Kysely<unknown>

/** Column name to its type and constraints in SQL. */
type Columns = Record<string, string>

/** Creates the type, or adds missing values to it. */
export async function ensureEnum(db: MigrationDb, name: string, values: string[]): Promise<void> {
  const { rows } = await sql<{ value: string | null }>`
    select enumlabel as value from pg_type left join pg_enum on enumtypid = pg_type.oid
    where typname = ${name} and typnamespace = quote_ident(current_schema())::regnamespace
  `.execute(db)
  if (rows.length === 0) {
    await sql`create type ${sql.ref(name)} as enum (${sql.join(values.map(sql.lit))})`.execute(db)
    return
  }
  const present = rows.map((row) => row.value)
  for (const value of values.filter((candidate) => !present.includes(candidate))) {
    await sql`alter type ${sql.ref(name)} add value if not exists ${sql.lit(value)}`.execute(db)
  }
}

/**
 * Creates the table with row-level security and no policy, so that only its owner can read it, or adds missing columns.
 * Table constraints apply to a new table only.
 */
export async function ensureTable(
  db: MigrationDb,
  table: string,
  columns: Columns,
  constraints: string[] = [],
  { rowLevelSecurity = true }: { rowLevelSecurity?: boolean } = {},
): Promise<void> {
  const present = await listColumns(db, table)
  if (present.size === 0) {
    await createTable(db, table, columns, constraints)
    if (!rowLevelSecurity) return
    await sql`alter table ${sql.ref(table)} enable row level security`.execute(db)
    return
  }
  for (const [name, definition] of Object.entries(columns)) {
    if (!present.has(name)) {
      await sql`alter table ${sql.ref(table)} add column ${column(name, definition)}`.execute(db)
    }
  }
}

/**
 * Requires this migration of every program that serves the schema. A migration that drops something names the one with
 * which the previous release stopped needing it (`npm run release:check`).
 */
export async function serveFrom(db: MigrationDb, migration: string): Promise<void> {
  // Versions that know no floor reject unknown names in this table.
  await sql`insert into postern_migrations (name, timestamp) values (${migration}, now()::text)
    on conflict do nothing`.execute(db)
  await sql`update postern_schema_floor set migration = ${migration} where migration < ${migration}`.execute(
    db,
  )
}

/**
 * Statements of the form `create index if not exists ...`. A statement for an existing index is not sent: it would wait
 * for writers of the table, and block others.
 */
export async function ensureIndexes(db: MigrationDb, statements: string[]): Promise<void> {
  for (const statement of statements) {
    const name = /if not exists (\w+)/.exec(statement)?.[1] ?? ''
    const { rows } = await sql`select 1 where ${relation(name)} is not null`.execute(db)
    if (rows.length === 0) await sql.raw(statement).execute(db)
  }
}

/** Creates a function without arguments unless the schema has one of this name. */
export async function ensureFunction(db: MigrationDb, name: string, rest: string): Promise<void> {
  const found = await sql`
    select 1 from pg_proc where proname = ${name} and pronargs = 0
      and pronamespace = quote_ident(current_schema())::regnamespace
  `.execute(db)
  if (found.rows.length === 0) {
    await sql`create function ${sql.ref(name)}() ${sql.raw(rest)}`.execute(db)
  }
}

export async function hasColumn(db: MigrationDb, table: string, name: string): Promise<boolean> {
  return (await listColumns(db, table)).has(name)
}

async function createTable(
  db: MigrationDb,
  table: string,
  columns: Columns,
  constraints: string[],
): Promise<void> {
  const parts = Object.entries(columns).map(([name, definition]) => column(name, definition))
  const all = sql.join([...parts, ...constraints.map((constraint) => sql.raw(constraint))])
  await sql`create table ${sql.ref(table)} (${all})`.execute(db)
}

async function listColumns(db: MigrationDb, table: string): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${relation(table)} and attnum > 0 and not attisdropped
  `.execute(db)
  return new Set(rows.map((row) => row.name))
}

function column(name: string, definition: string) {
  return sql`${sql.ref(name)} ${sql.raw(definition)}`
}

/** The table of the current schema, never one of another schema on the search path. */
function relation(table: string) {
  return sql`to_regclass(format('%I.%I', current_schema(), ${table}::text))`
}
