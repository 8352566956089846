/**
 * What a login lacks to create the tables of this version, as sentences that name the SQL to run. A server whose
 * migrations are all applied needs none of it.
 */
import { type QueryExecutorProvider, sql } from 'kysely'

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

/** Empty for a login that may migrate. */
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
export const describeForeignSchema = ({ login, schema, owner }: Foreign, action: string): string =>
  `The login ${login} may not ${action} the schema ${schema}: connect as its owner ${owner}, or run as this role or a superuser: grant usage, create on schema ${schema} to ${login};`

/** `effect` is what follows from it. */
export function describeForeignTables({ login, schema, owner }: Foreign, effect = ''): string {
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
