/** Plain statements and migrations against a test database. */
import type pg from 'pg'

import { runMigrations } from '../../server/migrate.ts'
import { withClient } from '../../server/with-client.ts'

type Row = Record<string, unknown>

/** Runs statements in order on one connection; returns the rows of the last. */
export async function query(
  url: string,
  ...statements: (string | pg.QueryConfig)[]
): Promise<Row[]> {
  return withClient({ connectionString: url }, async (client) => {
    let rows: Row[] = []
    for (const statement of statements) {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(statement)
      rows = Array.isArray(result) ? [] : result.rows
    }
    return rows
  })
}

/** Migrates and returns the logged warnings. */
export async function migrated(url: string, schema = 'auth'): Promise<string[]> {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (message: string) => warnings.push(message) }
  await runMigrations({ connectionString: url, schema, log })
  return warnings
}

/** Every column of a schema, as `table.column` with its type, nullability, default and the like. */
export async function columns(url: string, schema = 'auth'): Promise<Map<string, string>> {
  const rows = await query(url, {
    text: `
      select c.relname || '.' || a.attname as name,
        concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
          pg_get_expr(d.adbin, d.adrelid), a.attgenerated) as definition
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = $1::regnamespace and a.attnum > 0 and not a.attisdropped
      order by 1`,
    values: [schema],
  })
  return new Map(rows.map((row) => [String(row.name), String(row.definition)]))
}
