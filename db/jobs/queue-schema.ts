/** Prepares the schema of the job queue for a login that may not create schemas. */
import { type Kysely, sql } from 'kysely'

import { hasTable } from '../gotrue/database.ts'

/** Names the statement that an administrator has to run. */
class QueueSchemaError extends Error {
  override name = 'QueueSchemaError'

  constructor(schema: string, login: string) {
    super(
      `The login ${login} may not create the schema of the job queue. Run once as an administrator: ` +
        `create schema ${schema} authorization ${login};`,
    )
  }
}

/**
 * graphile-worker runs `create schema if not exists`, which requires the privilege even if the schema exists. In a
 * schema created for this login, its first table is created here instead. Throws QueueSchemaError.
 */
export async function prepareQueueSchema(db: Kysely<unknown>, schema: string): Promise<void> {
  if (await hasTable(db, schema, 'migrations')) return
  const { rows } = await sql<{ login: string; creates: boolean; is_ours: boolean }>`
    select quote_ident(current_user) as login,
      has_database_privilege(current_database(), 'create') as creates,
      coalesce(has_schema_privilege(to_regnamespace(quote_ident(${schema}))::oid, 'create'), false) as is_ours
  `.execute(db)
  const [state] = rows
  if (!state || state.creates) return
  if (!state.is_ours) throw new QueueSchemaError(schema, state.login)
  await createFirstTable(db, schema).catch(async (error) => {
    // Another replica may have created it since.
    if (!(await hasTable(db, schema, 'migrations'))) throw error
  })
}

async function createFirstTable(db: Kysely<unknown>, schema: string): Promise<void> {
  await sql`create table ${sql.id(schema, 'migrations')} (
    id int primary key, ts timestamptz not null default now(), breaking boolean not null default false
  )`.execute(db)
}
