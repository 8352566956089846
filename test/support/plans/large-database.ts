/**
 * A database that Postgres plans for as if every table that grows had ten million rows. The planner multiplies the rows
 * per page that it counted last by the file's real number of pages, so that pg_class is not enough. A sample is inserted
 * and analyzed; then the files of tables and indexes are extended by pages without data, which take no space on disk,
 * and the counts are raised with them. Values unique in the sample are unique in its statistics at any size.
 */
import type pg from 'pg'

import { withClient } from '../../../server/with-client.ts'
import { cloneDatabase, type TestDatabase } from '../database.ts'
import type { Ending } from '../processes/ending.ts'
import { sampleInsert } from './sample.ts'

const [sampleRows, few] = [2_000, 3]
const largeRows = 10_000_000

/** Tables whose size depends on the operator's configuration, or that are emptied all the time. */
const small = [
  /^(custom_oauth_providers|instances|saml_providers|schema_migrations|scim_tokens|sso_domains|sso_providers)$/,
  /^postern_(admin|api_token|clean_up|custom|dec|encryption|event_inbox|import|migration|schema|send_quotas)/,
  /^postern_(saml_provider|setting|signing|scim_connections|scim_role|scim_tokens|takeover|tenant|usage|webhooks)/,
  /^(oauth_clients|postern_oauth_clients)$/,
]

export interface LargeDatabase extends TestDatabase {
  /** Names of the tables with ten million rows. */
  tables: string[]
}

/** Whether the tests' login may run programs as the user of Postgres. */
export async function canExtendFiles(): Promise<boolean> {
  const connectionString = process.env.TEST_ADMIN_URL
  return withClient({ connectionString }, async (client) => {
    const { rows } = await client.query<{ allowed: boolean }>(
      `select pg_has_role('pg_execute_server_program', 'usage')
        and current_setting('is_superuser')::boolean as allowed`,
    )
    return rows[0]?.allowed ?? false
  })
}

export async function createLargeDatabase(t: Ending): Promise<LargeDatabase> {
  const database = await cloneDatabase(t)
  const tables = await withClient({ connectionString: database.url }, async (client) => {
    await client.query(`set search_path to auth; set session_replication_role to replica`)
    const all = await listTables(client)
    const large = all.filter((table) => !small.some((pattern) => pattern.test(table)))
    await dropChecks(client)
    for (const table of all) {
      await client.query(
        await sampleInsert(client, table, large.includes(table) ? sampleRows : few),
      )
    }
    await client.query('vacuum analyze')
    await extendFiles(client, large)
    return large
  })
  return { ...database, tables }
}

async function listTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** The sample's values are made up column by column. */
async function dropChecks(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
      from pg_constraint where connamespace = 'auth'::regnamespace and contype = 'c'`,
  )
  for (const { statement } of rows) await client.query(statement)
}

interface Relation {
  file: string
  pages: number
}

/** A relation is kept in files of at most this many pages. */
const pagesPerFile = 131_072

/**
 * As the user of Postgres, whose folder it is: the tests' own may not write there. Index-only scans are planned for
 * tables of which a vacuum has seen four fifths.
 */
async function extendFiles(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  const factor = largeRows / sampleRows
  const { rows } = await client.query<Relation>(
    `with relations as (
        select oid from pg_class where relnamespace = 'auth'::regnamespace and relname = any($1)
        union all select indexrelid from pg_index join pg_class on pg_class.oid = indrelid
          where relnamespace = 'auth'::regnamespace and relname = any($1)),
      raised as (
        update pg_class set reltuples = reltuples * $2, relpages = relpages * $2, relallvisible = relpages * $2 * 0.8
          from relations where relations.oid = pg_class.oid
          returning pg_class.oid, relpages)
      select pg_relation_filepath(oid) as file, relpages as pages from raised where relpages > 0`,
    [tables, factor],
  )
  const commands = rows.flatMap(({ file, pages }) => extensions(file, pages))
  for (let from = 0; from < commands.length; from += 200) {
    const program = commands.slice(from, from + 200).join(' && ')
    await client.query(`copy (select) to program '${program}'`)
  }
}

function extensions(file: string, pages: number): string[] {
  const commands: string[] = []
  for (let number = 0; number * pagesPerFile < pages; number += 1) {
    const size = Math.min(pages - number * pagesPerFile, pagesPerFile)
    const path = number === 0 ? file : `${file}.${number}`
    commands.push(`dd if=/dev/null of=${path} bs=8192 count=0 seek=${size} 2>/dev/null`)
  }
  return commands
}
