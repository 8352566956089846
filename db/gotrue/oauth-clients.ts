import { type QueryExecutorProvider, sql } from 'kysely'

import { hasTable } from './database.ts'

/** Counts the registered OAuth clients. Their users cannot sign in while the OAuth server is off. */
export async function countOAuthClients(
  db: QueryExecutorProvider,
  schema: string,
): Promise<number> {
  if (!(await hasTable(db, schema, 'oauth_clients'))) return 0
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.id(schema, 'oauth_clients')} where deleted_at is null
  `.execute(db)
  return rows[0]?.count ?? 0
}
