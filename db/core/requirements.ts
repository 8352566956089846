/** Requirements on the database and its login, checked before anything is changed. Each unmet one is a sentence. */
import { type QueryExecutorProvider, sql } from 'kysely'

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

interface Privileges {
  /** The quoted login, and the quoted name of the schema with its quoted owner, null while there is none. */
  login: string
  schema: string
  schemaOwner: string | null
  /** In the database. */
  createsSchemas: boolean
  /** In the schema. */
  createsTables: boolean
  /** The quoted owner of the tables, when it is another role and row-level security hides nothing of them. */
  tableOwner: string | null
}

/**
 * What a login lacks to create the tables of this version, as sentences that name the SQL to run: none for a login that
 * may migrate. A server whose migrations are all applied needs none of it.
 */
export async function findMissingMigrationRights(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const { rows } = await sql<Privileges>`
    select quote_ident(current_user) as login,
      quote_ident(${schema}) as schema,
      (select quote_ident(pg_get_userbyid(nspowner)) from pg_namespace where nspname = ${schema}) as "schemaOwner",
      has_database_privilege(current_database(), 'create') as "createsSchemas",
      coalesce(has_schema_privilege(to_regnamespace(quote_ident(${schema}))::oid, 'create'), true) as "createsTables",
      (select quote_ident(pg_get_userbyid(relowner)) from pg_class
        where relnamespace = to_regnamespace(quote_ident(${schema})) and relname = 'users'
          and not pg_has_role(relowner, 'usage') and not row_security_active(oid)) as "tableOwner"
  `.execute(db)
  return [...rows.flatMap(describeMissing), ...(await findMissingQueueSchema(db, `${schema}_jobs`))]
}

function describeMissing({
  login,
  schema,
  schemaOwner,
  createsSchemas,
  createsTables,
  tableOwner,
}: Privileges): string[] {
  if (schemaOwner === null) {
    if (createsSchemas) return []
    return [
      `The login ${login} may not create the schema ${schema}: run as the owner of the database or a superuser: create schema ${schema} authorization ${login};`,
    ]
  }
  return [
    ...(createsTables
      ? []
      : [describeForeignSchema({ login, schema, owner: schemaOwner }, 'create tables in')]),
    ...(tableOwner === null ? [] : [describeForeignTables({ login, schema, owner: tableOwner })]),
  ]
}

/** Quoted names. */
interface Foreign {
  login: string
  schema: string
  owner: string
}

/** `action` is what the login may not do. */
const describeForeignSchema = ({ login, schema, owner }: Foreign, action: string): string =>
  `The login ${login} may not ${action} the schema ${schema}: connect as its owner ${owner}, or run as this role or a superuser: grant usage, create on schema ${schema} to ${login};`

/** `effect` is what follows from it. */
function describeForeignTables({ login, schema, owner }: Foreign, effect = ''): string {
  return `The login ${login} does not own the tables of the schema ${schema}${effect}: connect as their owner ${owner}, or run as a superuser: grant ${owner} to ${login};`
}

interface QueueSchema {
  login: string
  schema: string
  /** The quoted owner of the schema; null while there is none. */
  owner: string | null
  createsSchemas: boolean
  createsTables: boolean
  hasTables: boolean
}

/** The same for the schema of the job queue. */
export async function findMissingQueueSchema(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const { rows } = await sql<QueueSchema>`
    select quote_ident(current_user) as login,
      quote_ident(${schema}) as schema,
      (select quote_ident(pg_get_userbyid(nspowner)) from pg_namespace where nspname = ${schema}) as owner,
      has_database_privilege(current_database(), 'create') as "createsSchemas",
      coalesce(has_schema_privilege(to_regnamespace(quote_ident(${schema}))::oid, 'create'), false) as "createsTables",
      exists (select from pg_class where relname = 'migrations'
        and relnamespace = to_regnamespace(quote_ident(${schema}))) as "hasTables"
  `.execute(db)
  return rows.flatMap(({ login, schema: name, owner, ...state }) => {
    if (state.hasTables || state.createsTables) return []
    if (owner === null && state.createsSchemas) return []
    const cure =
      owner === null
        ? `run as the owner of the database or a superuser: create schema ${name} authorization ${login};`
        : `run as its owner ${owner} or a superuser: grant usage, create on schema ${name} to ${login};`
    return [
      `The login ${login} may not create tables in the schema ${name} of the job queue: ${cure}`,
    ]
  })
}
