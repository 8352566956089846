/**
 * Citus distributes tables and then plans statements itself: it rejects some of this server's statements, and splits
 * others.
 */
import { type QueryExecutorProvider, sql } from 'kysely'

/** Returns why the schema cannot be used; undefined without Citus, and for a schema that it does not distribute. */
export async function findCitusSharding(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const { rows } = await sql<{ hasCitus: boolean; shardsNewSchemas: boolean }>`
    select to_regclass('pg_dist_partition') is not null as "hasCitus",
      current_setting('citus.enable_schema_based_sharding', true) = 'on'
        and (to_regnamespace(quote_ident(${schema})) is null
          or to_regnamespace(quote_ident(${`${schema}_jobs`})) is null) as "shardsNewSchemas"
  `.execute(db)
  const [citus] = rows
  if (!citus?.hasCitus) return []
  if (citus.shardsNewSchemas) {
    return [
      `Citus would distribute the schema "${schema}" or its job queue: start once while citus.enable_schema_based_sharding is off.`,
    ]
  }
  return (await isDistributed(db, schema))
    ? [
        `Citus distributes tables of the schema "${schema}", and then rejects statements of this server: restore a backup into a database without Citus.`,
      ]
    : []
}

async function isDistributed(db: QueryExecutorProvider, schema: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) limit 1
  `.execute(db)
  return rows.length > 0
}
