/** Applies one migration in a transaction with a short lock timeout. */
import { sql, type Transaction } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'

import { formerMigrations } from '../migrations/former-migrations.ts'
import { migrations } from '../migrations/index.ts'
import { migrationTable, namesIn } from './applied-migrations.ts'
import type { Waiting } from './lock-conflicts.ts'
import { isAfterFailure } from './migration-db.ts'

/** A statement that waits for a lock blocks all later ones on that table. */
const lockTimeoutMs = 50

/** Applies the first pending migration. */
export async function applyMigration(
  trx: Transaction<unknown>,
  { schema, lastFailed }: Pick<Waiting, 'schema' | 'lastFailed'>,
): Promise<void> {
  // Migrations name tables without a schema. A local setting ends with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx)
  const former = await recordedFormer(trx, schema)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => ({ ...former, ...migrations }) },
    migrationTableSchema: schema,
    migrationTableName: migrationTable,
    migrationLockTableName: 'postern_migration_lock',
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateUp()
  // Kysely queries again after a failed statement of its own, and throws the error of that query.
  if (isAfterFailure(error)) throw lastFailed().error
  if (error !== undefined) throw error
}

/** Kysely rejects a recorded name that it is not given. */
async function recordedFormer(
  trx: Transaction<unknown>,
  schema: string,
): Promise<Record<string, Migration>> {
  const names = await namesIn(trx, schema, migrationTable)
  const former = names.filter((name) => formerMigrations.has(name))
  return Object.fromEntries(former.map((name) => [name, { up: async () => {} }]))
}
