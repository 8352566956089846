/** Prepares the schema of the job queue for a login that may not create schemas. */
import { type Kysely, sql } from 'kysely'

import { findMissingQueueSchema } from '../core/migration-rights.ts'
import { assertUsableDatabase } from '../core/requirements.ts'
import { hasTable } from '../gotrue/database.ts'

/**
 * graphile-worker runs `create schema if not exists`, which requires the privilege even if the schema exists. In a
 * schema created for this login, its first table is created here instead. Throws UnusableDatabaseError.
 */
export async function prepareQueueSchema(db: Kysely<unknown>, schema: string): Promise<void> {
  if (await hasTable(db, schema, 'migrations')) return
  assertUsableDatabase(await findMissingQueueSchema(db, schema))
  const { rows } = await sql<{ creates: boolean }>`
    select has_database_privilege(current_database(), 'create') as creates`.execute(db)
  if (rows[0]?.creates) return
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
