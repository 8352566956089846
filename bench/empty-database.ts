import { runMigrations } from '../server/migrate.ts'
import type { TestDatabase } from '../test/support/database.ts'

/** Migrates the empty database of DATABASE_URL, which stays. Throws when the variable is not set. */
export async function migrateEmptyDatabase(): Promise<TestDatabase> {
  const url = process.env.DATABASE_URL
  if (!url) throw new Error('DATABASE_URL has to name an empty database.')
  const log = { debug() {}, info() {}, warn: (message: string) => console.error(message) }
  await runMigrations({ connectionString: url, schema: 'auth', log })
  return { url, drop: async () => {} }
}
