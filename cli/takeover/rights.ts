import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'
import { ok, stop, type TakeoverFinding } from './finding.ts'

interface Rights {
  login: string
  database: string
  /** Owns the tables. */
  owns: boolean
  /** May create objects in the schema. */
  creates: boolean
  /** May create the schema of the job queue, or it exists. */
  makes: boolean
}

/** Checks the privileges of the server's login. */
export async function rights(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const { rows } = await sql<Rights>`
    select current_user as login, current_database() as database,
      has_schema_privilege(current_user, ${schema}, 'create') as creates,
      has_database_privilege(current_database(), 'create')
        or to_regnamespace(quote_ident(${`${schema}_jobs`})) is not null as makes,
      pg_has_role(current_user, relowner, 'usage') as owns
    from pg_class where relname = 'users' and relnamespace = to_regnamespace(quote_ident(${schema}))
  `.execute(db)
  const [found] = rows
  if (!found) return []
  const { login, database, owns, creates, makes } = found
  return [
    owns
      ? ok(`The login ${login} owns the tables.`)
      : stop(`The login ${login} does not own the tables: connect as their owner.`),
    ...(creates
      ? []
      : [stop(`Missing privilege: grant create on schema "${schema}" to "${login}";`)]),
    ...(makes
      ? []
      : [
          stop(
            `Missing schema in ${database}: create schema "${schema}_jobs" authorization "${login}";`,
          ),
        ]),
  ]
}
