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
 * Table constraints apply to a new table only. Returns true for a new table.
 */
export async function ensureTable(
  db: MigrationDb,
  table: string,
  columns: Columns,
  constraints: string[] = [],
): Promise<boolean> {
  const present = await listColumns(db, table)
  if (present.size === 0) {
    await createTable(db, table, columns, constraints)
    await sql`alter table ${sql.ref(table)} enable row level security`.execute(db)
    return true
  }
  for (const [name, definition] of Object.entries(columns)) {
    if (!present.has(name)) {
      await sql`alter table ${sql.ref(table)} add column ${column(name, definition)}`.execute(db)
    }
  }
  return false
}

/** Table constraints that limit the length of columns, named as GoTrue's are. */
export function maximumLengths(table: string, lengths: Record<string, number>): string[] {
  return Object.entries(lengths).map(
    ([name, longest]) =>
      `constraint ${table}_${name}_length check (char_length(${name}) <= ${longest})`,
  )
}

/** For a table that GoTrue may have created without row-level security. */
export async function ensureRowLevelSecurity(db: MigrationDb, table: string): Promise<void> {
  const { rows } = await sql`
    select 1 from pg_class where relrowsecurity and oid = ${relation(table)}`.execute(db)
  if (rows.length > 0) return
  await sql`alter table ${sql.ref(table)} enable row level security`.execute(db)
}

/**
 * Leaves room in each page of a table whose rows change often: the new version of a row stays in its page and needs no
 * new index entries (a heap-only tuple). It applies to pages that are filled from now on, and blocks no request. The
 * operator's own setting stays.
 */
export async function ensureFillfactor(
  db: MigrationDb,
  table: string,
  percent: number,
): Promise<void> {
  const { rows } = await sql`
    select 1 from pg_class where oid = ${relation(table)}
      and array_to_string(reloptions, ' ') like '%fillfactor%'`.execute(db)
  if (rows.length > 0) return
  await sql`alter table ${sql.ref(table)} set (fillfactor = ${sql.lit(percent)})`.execute(db)
}

/**
 * Requires this migration of every program that serves the schema. A migration that drops something names the one with
 * which the previous release stopped needing it (`npm run release:check`).
 */
export async function serveFrom(db: MigrationDb, migration: string): Promise<void> {
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

export async function tableExists(db: MigrationDb, table: string): Promise<boolean> {
  return (await listColumns(db, table)).size > 0
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
