/** Applies one migration in a transaction with a short lock timeout. */
import { sql, type Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'

import type { Waiting } from './lock-conflicts.ts'
import { isAfterFailure } from './migration-db.ts'
import { getMigrationTable } from './migration-tables.ts'

/** A statement that waits for a lock blocks all later ones on that table. */
const lockTimeoutMs = 50

/** Applies one migration, which must be the first pending one of its table. */
export async function applyMigration(
  trx: Transaction<unknown>,
  { schema, lastFailed }: Pick<Waiting, 'schema' | 'lastFailed'>,
  name: string,
): Promise<void> {
  const { table, migrations } = getMigrationTable(name)
  // Migrations name tables without a schema. A local setting ends with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: table,
    migrationLockTableName: 'postern_migration_lock',
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateUp()
  // Kysely queries again after a failed statement of its own, and throws the error of that query.
  if (isAfterFailure(error)) throw lastFailed().error
  if (error !== undefined) throw error
}
