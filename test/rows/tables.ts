/** The tables of a server: their columns, and their rows as they were when this was called. */
import type pg from 'pg'

import type { App } from '../support/server.ts'

/** A column that may hold null, or JSON. */
export interface Column {
  table: string
  name: string
  /** As Postgres names it. */
  type: string
  nullable: boolean
}

export type Tables = Awaited<ReturnType<typeof keepTables>>

/** Copies every row. */
export async function keepTables({ pool }: App) {
  const columnLists = await findColumnNames(pool)
  const names = [...columnLists.keys()]
  await pool.query('create schema kept')
  for (const name of names) await pool.query(`create table kept.${name} as table auth.${name}`)
  let states = await readStates(pool, names)

  /** Writes the kept rows of these tables again, without their triggers. */
  async function restore(changed: readonly string[]): Promise<void> {
    if (changed.length === 0) return
    const statements = changed.map((name) => {
      const columns = columnLists.get(name)
      return `delete from auth.${name};
        insert into auth.${name} (${columns}) overriding system value select ${columns} from kept.${name};`
    })
    const text = `set local session_replication_role = replica; ${statements.join('')}`
    // Background work may hold the rows of one of them and wait for those of another.
    for (let attempt = 0; attempt < 9; attempt++) if (await tryTransaction(pool, text)) return
    throw new Error(`not restored: ${changed.join()}`)
  }

  return {
    restore,
    /** The same for all tables that have changed; returns their names. */
    async restoreAll(): Promise<string[]> {
      const now = await readStates(pool, names)
      const changed = names.filter((name) => now.get(name) !== states.get(name))
      await restore(changed)
      states = await readStates(pool, names)
      return changed
    },
  }
}

async function tryTransaction(pool: pg.Pool, text: string): Promise<boolean> {
  try {
    // Several statements in one message are one transaction.
    await pool.query(text)
    return true
  } catch {
    return false
  }
}

async function findColumnNames(pool: pg.Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'auth' and table_type = 'BASE TABLE' and is_generated = 'NEVER' group by 1 order by 1`,
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

/** A text that every insert, update and delete changes, by table. */
async function readStates(pool: pg.Pool, names: readonly string[]): Promise<Map<string, string>> {
  const states = names.map(
    (
      name,
    ) => `select '${name}' as name, count(*) || ' ' || coalesce(max(xmin::text::bigint), 0) as state
      from auth.${name}`,
  )
  const { rows } = await pool.query<{ name: string; state: string }>(states.join(' union all '))
  return new Map(rows.map(({ name, state }) => [name, state]))
}

/** All columns that may hold null or JSON, in the order of their tables. */
export async function listColumns({ pool }: App): Promise<Column[]> {
  const { rows } = await pool.query<Column>(
    `select table_name as "table", column_name as name, udt_name as type, is_nullable = 'YES' as nullable
     from information_schema.columns where table_schema = 'auth' and is_generated = 'NEVER'
       and (is_nullable = 'YES' or udt_name in ('json', 'jsonb')) order by 1, ordinal_position`,
  )
  return rows
}

/** SQL of what the column is to hold, by name. */
export function listValues({ name, type, nullable }: Column): Record<string, string> {
  const members = `(select json_object_agg(key, null) from json_each_text(
    case json_typeof(${name}::json) when 'object' then ${name}::json else '{"a": 1}' end))::${type}`
  const json = {
    'JSON null': `'null'::${type}`,
    text: `'"text"'::${type}`,
    'a list': `'["a", null, {}]'::${type}`,
    'an empty object': `'{}'::${type}`,
    'an object of nulls': members,
  }
  return {
    ...(nullable && { null: 'null' }),
    ...(/^jsonb?$/.test(type) && json),
    ...(type.startsWith('_') && { 'an empty array': `'{}'`, 'an array of null': `'{null}'` }),
  }
}

/** Sets the column in each row whose constraints allow it. Returns the number of these rows. */
export async function overwrite({ pool }: App, { table, name }: Column, sql: string) {
  const update = `update auth.${table} set ${name} = ${sql}`
  try {
    return (await pool.query(update)).rowCount ?? 0
  } catch {
    const { rows } = await pool.query<{ at: string }>(`select ctid::text as at from auth.${table}`)
    let changed = 0
    for (const { at } of rows) {
      const single = pool.query(`${update} where ctid = $1::tid`, [at])
      changed += (await single.catch(() => undefined))?.rowCount ?? 0
    }
    return changed
  }
}
