/** Requirements on the database and its login, checked before anything is changed. Each unmet one is a sentence. */
import { type QueryExecutorProvider, sql } from 'kysely'

import { describeForeignSchema, describeForeignTables } from './migration-rights.ts'

class UnusableDatabaseError extends Error {
  override name = 'UnusableDatabaseError'
}

interface Access {
  /** The quoted login. */
  login: string
  isStandby: boolean
  isReadOnly: boolean
  /** The quoted name of the schema, and its quoted owner. */
  quoted: string
  owner: string
  /** The schema does not exist yet, or the login may use it. */
  hasUsage: boolean
  /** The quoted owner of a table whose rows are hidden by row-level security, because it is another role. */
  hiddenBy: string | null
  /** Qualified names of its own tables with forced row-level security. */
  forced: string[]
}

/** Tables whose hidden rows would look like an empty database or like one created by another role. */
const needed = [
  'users',
  'identities',
  'sessions',
  'refresh_tokens',
  'one_time_tokens',
  'mfa_factors',
  'flow_state',
  'audit_log_entries',
  'schema_migrations',
]

/** Returns what the login must not create, use or read, as sentences. */
export async function findMissingRights(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const { rows } = await sql<Access>`
    with hidden as (
      select format('%I.%I', ${schema}::text, relname) as name, pg_has_role(relowner, 'usage') as is_own,
        quote_ident(pg_get_userbyid(relowner)) as owner
      from pg_class
      where relnamespace = to_regnamespace(quote_ident(${schema})) and relkind in ('r', 'p')
        and (relname = any(${needed}::text[]) or relname like 'postern\\_%') and row_security_active(oid)
      order by relname
    )
    select quote_ident(current_user) as login,
      pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only')::bool as "isReadOnly",
      quote_ident(${schema}) as quoted,
      coalesce((select quote_ident(pg_get_userbyid(nspowner)) from pg_namespace where nspname = ${schema}), '') as owner,
      coalesce(has_schema_privilege(to_regnamespace(quote_ident(${schema}))::oid, 'usage'), true) as "hasUsage",
      (select owner from hidden where not is_own limit 1) as "hiddenBy",
      array(select name from hidden where is_own) as forced
  `.execute(db)
  return rows.flatMap(sentences)
}

function sentences(access: Access): string[] {
  const { login, isStandby, isReadOnly, quoted: schema, owner, hasUsage, hiddenBy, forced } = access
  const found: string[] = []
  if (isStandby) {
    found.push('It is a standby, which takes no writes: name its primary in DATABASE_URL.')
  } else if (isReadOnly) {
    found.push(
      `default_transaction_read_only is on for the login ${login}, or for its database: alter role ${login} set default_transaction_read_only = off;`,
    )
  }
  if (!hasUsage) {
    found.push(describeForeignSchema({ login, schema, owner }, 'use'))
  }
  if (hiddenBy !== null) {
    const tables = { login, schema, owner: hiddenBy }
    found.push(describeForeignTables(tables, ', and row-level security hides their rows from it'))
  }
  for (const table of forced) {
    found.push(
      `Row-level security hides the rows of ${table} from their owner ${login}: alter table ${table} no force row level security;`,
    )
  }
  return found
}

/** Other encodings cannot store every name, or count bytes as letters. */
const encoding = 'UTF8'

/** Checks the encoding of the database, which cannot be changed after its creation. */
export async function foreignEncoding(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ encoded: string }>`
    select current_setting('server_encoding') as encoded`.execute(db)
  return rows
    .filter(({ encoded }) => encoded !== encoding)
    .map(
      ({ encoded }) =>
        `Its encoding is ${encoded}, in which not every name can be stored: make another one by create database NAME template template0 encoding '${encoding}';`,
    )
}

/** Throws UnusableDatabaseError. */
export function assertUsableDatabase(blockers: string[]): void {
  if (blockers.length === 0) return
  throw new UnusableDatabaseError(
    `The database of DATABASE_URL cannot be used. ${blockers.join(' ')}`,
  )
}
