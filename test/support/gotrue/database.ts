/** Databases as GoTrue’s current release creates them: its tables and list of migrations only. */
import { createDb } from '../../../db/core/database.ts'
import { dropPosternObjects, restoreExternalIdIndex } from '../../../db/gotrue/takeover.ts'
import { createPool } from '../../../plugins/database/pool/index.ts'
import { migrated } from '../../db/sql.ts'
import { cloneDatabase, cloneOfMade, type TestDatabase } from '../database.ts'
import type { Ending } from '../processes/ending.ts'

/** Its tables have no defaults where ours default to the empty string. */
const withoutDefaults: Record<string, string[]> = {
  users: ['confirmation_token', 'recovery_token', 'email_change_token_new', 'email_change'],
  refresh_tokens: ['parent'],
  flow_state: ['provider_access_token', 'provider_refresh_token'],
  mfa_factors: ['friendly_name', 'secret'],
  mfa_challenges: ['otp_code'],
  oauth_clients: ['token_endpoint_auth_method'],
}

/** Our migrations enable row-level security here. */
const withoutSecurity = [
  'mfa_recovery_code_sets',
  'mfa_recovery_codes',
  'scim_tokens',
  'scim_users',
]

export function gotrueDatabase(t?: Ending): Promise<TestDatabase> {
  return cloneOfMade('gotrue', makeGotrueDatabase, t)
}

/** One that our migrations have changed, shared with GoTrue since then. */
export function migratedGotrueDatabase(t?: Ending): Promise<TestDatabase> {
  return cloneOfMade('migrated', makeMigratedDatabase, t)
}

async function makeMigratedDatabase(): Promise<TestDatabase> {
  const database = await gotrueDatabase()
  await migrated(database.url)
  return database
}

async function makeGotrueDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase()
  const pool = createPool({ connectionString: database.url, max: 1, log: { warn() {} } })
  const db = createDb(pool, 'auth')
  await db.transaction().execute(async (trx) => {
    await dropPosternObjects(trx, 'auth', 'auth_jobs')
    await restoreExternalIdIndex(trx, 'auth')
  })
  for (const table of withoutSecurity) {
    await pool.query(`alter table auth.${table} disable row level security`)
  }
  for (const [table, columns] of Object.entries(withoutDefaults)) {
    const changes = columns.map((column) => `alter column ${column} drop default`)
    await pool.query(`alter table auth.${table} ${changes.join(', ')}`)
  }
  await pool.end()
  return database
}
